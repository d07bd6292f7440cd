//! What is true of every figure.

use super::*;
use crate::live::Question;

mod answers;

#[test]
fn every_live_figure_is_drawn_at_its_first_settings_and_says_so() {
    for live in live() {
        let shown = live.at([]).unwrap();
        assert!(!shown.figure.title().is_empty(), "{}", live.name);
        assert!(shown.words.ends_with('.'), "{}: {}", live.name, shown.words);
        assert!(shown.numbers.iter().all(|it| it.is_finite()), "{}", live.name);
        assert!(!shown.numbers.is_empty(), "{}", live.name);
        assert_eq!(shown.figure, draw(live.name, &Args::default()).unwrap());
    }
}

/// An address holds names and keys between `?`, `.`, `=` and `&`.
#[test]
fn names_and_keys_are_told_apart_and_fit_an_address() {
    let fits = |text: &str| {
        text.chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c))
    };
    let mut names: Vec<&str> = names().collect();
    names.sort_unstable();
    let n = names.len();
    names.dedup();
    assert_eq!(names.len(), n, "two figures have one name");
    for live in live() {
        let mut keys: Vec<&str> = (live.controls)().iter().map(|it| it.key).collect();
        assert!(!keys.is_empty() && fits(live.name), "{}", live.name);
        assert!(keys.iter().all(|key| fits(key)), "{}: {keys:?}", live.name);
        keys.sort_unstable();
        let n = keys.len();
        keys.dedup();
        assert_eq!(keys.len(), n, "{}", live.name);
    }
}

#[test]
fn what_is_written_is_read_again() {
    for live in live() {
        let controls = (live.controls)();
        let first: Vec<(&str, String)> =
            controls.iter().map(|it| (it.key, it.first())).collect();
        let pairs = first.iter().map(|(key, text)| (*key, text.as_str()));
        let again = live.at(pairs).unwrap();
        assert_eq!(again.to_json(), live.at([]).unwrap().to_json(), "{}", live.name);
    }
}

/// Where the controls stand first no question is answered; at its own answer each is.
fn assert_questions_know<'a>(live: impl Iterator<Item = &'a Live>) {
    let faults: Vec<String> = live.flat_map(faults).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn faults(live: &Live) -> Vec<String> {
    let questions = live.questions;
    assert!((1..=4).contains(&questions.len()), "{}: {}", live.name, questions.len());
    let mut faults = Vec::new();
    for Question { ask, is_answered, answer, found } in questions {
        let is_answered = |pairs: &[(&'static str, &'static str)]| {
            let settings = live.settings(pairs.iter().copied()).unwrap();
            let view = (live.draw)(&settings).unwrap();
            is_answered(&settings, &view).unwrap()
        };
        if is_answered(&[]) {
            faults.push(format!("{}, without a move: {ask}", live.name));
        }
        if !is_answered(answer) {
            faults.push(format!("{} not at {answer:?}: {ask}", live.name));
        }
        assert!(ask.ends_with(['?', '.']) && found.ends_with('.'), "{ask} {found}");
    }
    faults
}

#[test]
fn questions_know_when_they_are_answered() {
    assert_questions_know(live().filter(|live| live.training.is_none()));
}

#[test]
fn questions_about_the_lookups_know_when_they_are_answered() {
    assert_questions_know(live().filter(|live| live.name == "lookups"));
}

#[test]
fn questions_about_two_layers_know_when_they_are_answered() {
    assert_questions_know(live().filter(|live| live.name == "two-layers"));
}
