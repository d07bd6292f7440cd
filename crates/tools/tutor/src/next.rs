//! What to go on with: by what was missed, and then in the order of the book.

use std::collections::BTreeMap;
use std::fs;

use anyhow::Result;
use catalogue::Exercise;
use checks::State;
use exercises::{ExerciseWords, Report};
use serde_json::{Value, json};
use workshop::{chapters, paths};

use crate::notes::Note;

/// How many things are said at most.
const MOST: usize = 3;

/// What a reader has done so far.
pub struct Standing {
    /// How each exercise stands, in the order of the book.
    pub states: Vec<State>,
    /// What the tutor has noted.
    pub notes: BTreeMap<String, Note>,
    /// The ids of the questions that were missed.
    pub missed: Vec<String>,
}

impl Standing {
    /// What `.learn` holds.
    pub fn read(exercises: &[Exercise], notes: BTreeMap<String, Note>) -> Self {
        let path = paths::state().join("predictions.json");
        let text = fs::read_to_string(path).unwrap_or_default();
        let answers: Value = serde_json::from_str(&text).unwrap_or_default();
        let missed = answers["missed"].as_object().into_iter().flatten();
        let missed = missed.map(|(id, _)| id.clone()).collect();
        Self { states: checks::states(exercises), notes, missed }
    }
}

/// What to go on with, the most useful first, each with its reason.
///
/// # Errors
/// Chapters that cannot be read.
pub fn next(exercises: &[Exercise], standing: &Standing) -> Result<Value> {
    let with_state = || exercises.iter().zip(&standing.states);
    let is_begun = |state| matches!(state, State::Checked(false) | State::Written);
    let mut next: Vec<Value> = with_state()
        .filter(|(_, state)| is_begun(**state))
        .map(|(it, state)| entry(it, *state, standing.notes.get(&it.name)))
        .collect();
    next.extend(questions(&standing.missed)?);
    next.truncate(MOST - 1);
    let mut new = with_state().filter(|(_, state)| **state == State::Given);
    next.extend(new.next().map(|(it, state)| entry(it, *state, None)));
    Ok(json!({"version": Report::VERSION, "next": next}))
}

/// An exercise, with the section that explains what its last answer missed.
fn entry(exercise: &Exercise, state: State, note: Option<&Note>) -> Value {
    let words = ExerciseWords::from(exercise);
    let ids = note.map_or(&[][..], |note| &note.mistakes);
    let mistake = words.mistakes.iter().find(|it| ids.contains(&it.id));
    let reason = match (state, mistake) {
        (State::Given, _) => {
            "It is the first in the book's order that is not written yet."
        }
        (State::Written, _) => "It is written, and not checked as it is now.",
        (_, None) => "The last check of it did not pass.",
        (_, Some(mistake)) => &format!("The last answer {}.", mistake.name),
    };
    json!({
        "kind": "exercise",
        "exercise": words.exercise,
        "number": words.number,
        "title": words.title,
        "minutes": exercise.minutes(),
        "read": mistake.map_or(&words.read, |it| &it.read),
        "reason": reason,
    })
}

/// The chapter whose questions were missed most.
fn questions(missed: &[String]) -> Result<Option<Value>> {
    let mut most: Option<(usize, Value)> = None;
    for chapter in chapters::all()? {
        let folder = paths::workspace().join("crates/5-book/questions/set");
        let sheet = folder.join(chapter.topic()).with_extension("md");
        let sheet = fs::read_to_string(sheet).unwrap_or_default();
        let place = |id: &String| sheet.split_once(&format!("{{#{id}}}"));
        let sections: Vec<&str> = missed
            .iter()
            .filter_map(place)
            .filter_map(|(_, rest)| rest.split_once("\nRead: ")?.1.lines().next())
            .collect();
        let n = sections.len();
        if n > most.as_ref().map_or(0, |most| most.0) {
            let (number, page) = (chapter.number, format!("{}.html", chapter.page));
            most = Some((
                n,
                json!({
                    "kind": "questions",
                    "exercise": null,
                    "number": null,
                    "title": format!("cargo learn predict --chapter {number}"),
                    "minutes": 2 * n,
                    "read": {"chapter": number, "section": sections[0], "page": page},
                    "reason": format!("Of its questions, {n} came out other than predicted."),
                }),
            ));
        }
    }
    Ok(most.map(|(_, entry)| entry))
}
