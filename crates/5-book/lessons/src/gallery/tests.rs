//! What is true of every figure.

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;
use crate::live::PageQuestion;

mod answers;

/// Whether no number among the facts is none, or infinite.
pub(crate) fn are_finite(facts: &impl serde::Serialize) -> bool {
    !serde_json::json!(facts).to_string().contains("null")
}

#[test]
fn every_live_figure_is_drawn_at_its_first_settings_and_says_so() {
    for live in live() {
        let (name, shown) = (live.name(), live.draw(&[]).unwrap());
        assert!(!shown.figure.title().is_empty(), "{name}");
        assert!(shown.words.ends_with('.'), "{name}: {}", shown.words);
        assert!(are_finite(&shown.facts), "{name}: {}", shown.facts);
        assert!(!shown.facts.as_object().unwrap().is_empty(), "{name}");
        assert_eq!(live.still().unwrap().figure, draw(name, &Args::default()).unwrap());
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
        let keys: Vec<&str> = live.controls().iter().map(|it| it.key).collect();
        assert!(!keys.is_empty() && fits(live.name()), "{}", live.name());
        assert!(keys.iter().all(|key| fits(key)), "{}: {keys:?}", live.name());
    }
}

#[test]
fn what_is_written_is_read_again() {
    for live in live() {
        let controls = live.controls();
        let first: Vec<(&str, &str)> =
            controls.iter().map(|it| (it.key, it.first.as_str())).collect();
        let again = live.draw(&first).unwrap();
        assert_eq!(again, live.draw(&[]).unwrap(), "{}", live.name());
    }
}

#[test]
fn a_live_figure_asks_one_question_to_four() {
    for live in live() {
        let (name, questions) = (live.name(), live.questions());
        assert!((1..=4).contains(&questions.len()), "{name}: {}", questions.len());
        for PageQuestion { ask, found, .. } in questions {
            assert!(ask.ends_with(['?', '.']) && found.ends_with('.'), "{ask} {found}");
        }
    }
}

/// What the marks of a figure set where they are pressed.
fn pressed(page: &Value, all: &mut BTreeSet<String>) {
    match page {
        Value::Object(fields) => {
            for (name, value) in fields {
                let mut texts = vec![value];
                while let Some(text) = texts.pop() {
                    match text {
                        Value::Array(list) => texts.extend(list),
                        Value::String(text) if ["sets", "picks"].contains(&&**name) => {
                            all.insert(text.clone());
                        }
                        _ => {}
                    }
                }
                pressed(value, all);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| pressed(value, all)),
        _ => {}
    }
}

#[test]
fn what_is_pressed_sets_controls_to_what_they_can_be() {
    let mut n_pressed = 0;
    for live in live() {
        let mut all = BTreeSet::new();
        pressed(&live.draw(&[]).unwrap().to_json(), &mut all);
        n_pressed += all.len();
        for text in all.iter().filter(|text| !text.is_empty()) {
            let filled =
                ["row", "column", "nth", "text"].iter().fold(text.clone(), |it, key| {
                    it.replace(
                        &format!("{{{key}}}"),
                        if *key == "text" { "a" } else { "0" },
                    )
                });
            let pairs: Vec<(&str, &str)> =
                filled.split('&').filter_map(|pair| pair.split_once('=')).collect();
            assert!(!pairs.is_empty(), "{}: {text}", live.name());
            live.draw(&pairs)
                .unwrap_or_else(|error| panic!("{}: {text}: {error}", live.name()));
        }
    }
    assert!(n_pressed > 60, "{n_pressed}");
}

/// Where the controls stand first it is not answered; at its own answer it is.
fn assert_knows(live: &dyn Live, nth: usize) {
    let (name, PageQuestion { ask, answer, .. }) = (live.name(), &live.questions()[nth]);
    let answer: Vec<(&str, &str)> =
        answer.iter().map(|(key, text)| (*key, text.as_str())).collect();
    let is_answered = |pairs: &[(&str, &str)]| live.draw(pairs).unwrap().answered[nth];
    assert!(!is_answered(&[]), "{name}, without a move: {ask}");
    assert!(is_answered(&answer), "{name} at {answer:?}: {ask}");
}

/// Their trainings take seconds.
const SLOW: [&str; 2] = ["lookups", "two-layers"];

/// Whether a slow training is needed for the answer and not for the first settings.
fn trains(live: &dyn Live, nth: usize) -> bool {
    let controls = live.controls();
    let is_free = |key| controls.iter().any(|it| it.key == key && it.at_any_time);
    let answer = &live.questions()[nth].answer;
    SLOW.contains(&live.name()) && !answer.iter().all(|(key, _)| is_free(*key))
}

#[test]
fn questions_know_when_they_are_answered() {
    let mut n_left = 0;
    for live in live() {
        for nth in 0..live.questions().len() {
            match trains(live, nth) {
                true => n_left += 1,
                false => assert_knows(live, nth),
            }
        }
    }
    assert_eq!(n_left, 4, "the tests below are about as many");
}

/// The same of questions about a training, which takes seconds.
fn assert_training_knows(name: &str, nth: usize) {
    let live = find(name).unwrap();
    assert!(trains(live, nth));
    assert_knows(live, nth);
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
