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
    let begun = with_state().filter_map(|(exercise, state)| {
        let note = standing.notes.get(&exercise.name);
        let reason = match state {
            State::Checked(false) => not_right(exercise, note),
            State::Written => "It is written, and not checked as it is now.".into(),
            State::Given | State::Checked(true) => return None,
        };
        Some(entry(exercise, note, &reason))
    });
    let new = with_state().find(|(_, state)| **state == State::Given).map(|(it, _)| {
        let reason = "It is the first in the book's order that is not written yet.";
        entry(it, None, reason)
    });
    let mut next: Vec<Value> = begun.collect();
    next.extend(questions(&standing.missed)?);
    next.truncate(MOST - 1);
    next.extend(new);
    Ok(json!({"version": Report::VERSION, "next": next}))
}

fn not_right(exercise: &Exercise, note: Option<&Note>) -> String {
    let ids = note.map_or(&[][..], |note| &note.mistakes);
    let named = exercise.sheet.mistakes.iter().find(|it| ids.contains(&it.id));
    match named {
        Some(mistake) => format!("The last answer {}.", mistake.name),
        None => "The last check of it did not pass.".into(),
    }
}

/// An exercise, with the section that explains what its last answer missed.
fn entry(exercise: &Exercise, note: Option<&Note>, reason: &str) -> Value {
    let words = ExerciseWords::from(exercise);
    let ids = note.map_or(&[][..], |note| &note.mistakes);
    let mistake = words.mistakes.iter().find(|it| ids.contains(&it.id));
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
