//! The exercises as a list: number, file, title, state, and how long each takes.

use std::fs;

use catalogue::Exercise;
use serde_json::{Map, Value};
use workshop::{paths, step};

use crate::answers::given;
use crate::package::Package;

/// How an exercise stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// As it was given.
    Given,
    /// Written, and not checked since.
    Written,
    /// Checked as it is now: whether it passed.
    Checked(bool),
}

impl State {
    fn mark(self) -> char {
        match self {
            Self::Given => '○',
            Self::Written => '·',
            Self::Checked(true) => '✓',
            Self::Checked(false) => '✗',
        }
    }
}

/// How each of the reader's exercises stands, by what was noted.
pub fn states(exercises: &[Exercise]) -> Vec<State> {
    let (package, noted) = (Package::of_the_reader(), read());
    exercises.iter().map(|it| state(&package, it, exercises, &noted)).collect()
}

/// The list, an exercise a line.
pub fn list(package: &Package, exercises: &[Exercise]) -> String {
    let states = read();
    let row = |exercise: &Exercise| {
        let state = state(package, exercise, exercises, &states);
        let Exercise { number, name, sheet, .. } = exercise;
        let (title, minutes) = (&sheet.title, exercise.minutes());
        format!(
            "{} {number:02}  {:<24} {:<44} {minutes:>2} min   chapter {}\n",
            state.mark(),
            format!("{name}.rs"),
            title,
            sheet.read.number
        )
    };
    let rows: String = exercises.iter().map(row).collect();
    let passed = exercises
        .iter()
        .filter(|it| state(package, it, exercises, &states) == State::Checked(true))
        .count();
    format!(
        "{rows}\n✓ passed   ✗ not right   · not checked as it is now   ○ not written\n\
         {passed} of {} passed. The files are in {}.\n",
        exercises.len(),
        paths::shown(&package.answers)
    )
}

fn state(
    package: &Package,
    exercise: &Exercise,
    exercises: &[Exercise],
    states: &Map<String, Value>,
) -> State {
    let known = &states.get(&exercise.name);
    let elsewhere = known.and_then(|known| known[ELSEWHERE].as_bool());
    let otherwise = elsewhere.map_or(State::Given, State::Checked);
    let Ok(text) = fs::read_to_string(package.answer(exercise)) else {
        return otherwise;
    };
    if text == given(exercise, exercises) {
        return otherwise;
    }
    match known.and_then(|known| known[digest(&text)].as_bool()) {
        Some(passed) => State::Checked(passed),
        None => State::Written,
    }
}

/// Notes how a check of an answer went.
///
/// # Errors
/// A file that cannot be written.
pub fn note(package: &Package, exercise: &Exercise, passed: bool) -> anyhow::Result<()> {
    if package.folder != Package::of_the_reader().folder {
        return Ok(());
    }
    let Ok(text) = fs::read_to_string(package.answer(exercise)) else { return Ok(()) };
    let mut states = read();
    let mut outcome = Map::from_iter([(digest(&text), Value::Bool(passed))]);
    if let Some(elsewhere) = states.get(&exercise.name).and_then(|it| it.get(ELSEWHERE)) {
        outcome.insert(ELSEWHERE.to_owned(), elsewhere.clone());
    }
    states.insert(exercise.name.clone(), Value::Object(outcome));
    step::write(&path(), serde_json::to_string_pretty(&states)? + "\n")
}

/// Notes how a check of an answer in another language went.
///
/// # Errors
/// A file that cannot be written.
pub fn note_elsewhere(exercise: &Exercise, passed: bool) -> anyhow::Result<()> {
    let mut states = read();
    let outcome =
        states.entry(exercise.name.clone()).or_insert_with(|| Map::new().into());
    outcome[ELSEWHERE] = passed.into();
    step::write(&path(), serde_json::to_string_pretty(&states)? + "\n")
}

/// Under what an answer is noted that is no Rust file.
const ELSEWHERE: &str = "elsewhere";

fn path() -> std::path::PathBuf {
    paths::state().join("checked.json")
}

/// What is noted; nothing where that cannot be read, since it is only a note.
fn read() -> Map<String, Value> {
    let text = fs::read_to_string(path()).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn digest(text: &str) -> String {
    format!("{:016x}", catalogue::digest(text))
}
