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

#[test]
fn a_live_figure_asks_one_question_to_four() {
    for Live { name, questions, .. } in live() {
        assert!((1..=4).contains(&questions.len()), "{name}: {}", questions.len());
        for Question { ask, found, .. } in *questions {
            assert!(ask.ends_with(['?', '.']) && found.ends_with('.'), "{ask} {found}");
        }
    }
}

/// Where the controls stand first it is not answered; at its own answer it is.
fn assert_knows(live: &Live, Question { ask, is_answered, answer, .. }: &Question) {
    let is_answered = |pairs: &[(&'static str, &'static str)]| {
        let settings = live.settings(pairs.iter().copied()).unwrap();
        let view = (live.draw)(&settings).unwrap();
        is_answered(&settings, &view).unwrap()
    };
    assert!(!is_answered(&[]), "{}, without a move: {ask}", live.name);
    assert!(is_answered(answer), "{} at {answer:?}: {ask}", live.name);
}

/// Their trainings take seconds.
const SLOW: [&str; 2] = ["lookups", "two-layers"];

/// Whether a slow training is needed for the answer and not for the first settings.
fn trains(live: &Live, question: &Question) -> bool {
    let controls = (live.controls)();
    let is_free = |key| controls.iter().any(|it| it.key == key && it.at_any_time);
    SLOW.contains(&live.name) && !question.answer.iter().all(|(key, _)| is_free(*key))
}

#[test]
fn questions_know_when_they_are_answered() {
    let mut n_left = 0;
    for live in live() {
        for question in live.questions {
            match trains(live, question) {
                true => n_left += 1,
                false => assert_knows(live, question),
            }
        }
    }
    assert_eq!(n_left, 4, "the tests below are about as many");
}

/// The same of questions about a training, which takes seconds.
fn assert_training_knows(name: &str, nth: usize) {
    let live = find(name).unwrap();
    assert!(trains(live, &live.questions[nth]));
    assert_knows(live, &live.questions[nth]);
}

#[test]
fn a_question_about_lookups_with_another_seed() {
    assert_training_knows("lookups", 1);
}

#[test]
fn a_question_about_lookups_with_four_heads() {
    assert_training_knows("lookups", 2);
}

#[test]
fn a_question_about_two_layers_with_another_seed() {
    assert_training_knows("two-layers", 1);
}

#[test]
fn a_question_about_one_layer() {
    assert_training_knows("two-layers", 2);
}
