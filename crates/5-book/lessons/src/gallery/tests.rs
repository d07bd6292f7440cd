//! What is true of every figure.

use super::*;
use crate::live::Question;

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
#[test]
fn questions_know_when_they_are_answered() {
    for live in live().filter(|live| live.training.is_none()) {
        for question in live.questions {
            let is_answered = |pairs: &[(&'static str, &'static str)]| {
                let settings = live.settings(pairs.iter().copied()).unwrap();
                let view = (live.draw)(&settings).unwrap();
                (question.is_answered)(&settings, &view).unwrap()
            };
            let Question { ask, answer, found, .. } = question;
            assert!(!is_answered(&[]), "{}, without a move: {ask}", live.name);
            assert!(is_answered(answer), "{} at {answer:?}: {ask}", live.name);
            assert!(ask.ends_with(['?', '.']) && found.ends_with('.'), "{ask} {found}");
        }
    }
}
