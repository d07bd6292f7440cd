//! The other way round: the reader writes a test, and it is run against layers that are
//! right and against every wrong layer of [`whole_layer`].

use std::process::ExitCode;

use attention::{Attended, LayerParameters, Mask, Matrix};

use super::whole_layer;
use crate::exercise::conclude;
use crate::outcome::{self, Outcome, Panic};
use crate::{Entry, Mistake, Section};

mod message;
mod properties;
mod right;
mod shown_by;
#[cfg(test)]
mod tests;

use properties::PROPERTIES;
use right::RIGHT;
use shown_by::SHOWN_BY;

pub use super::inputs::{layer as random_layer, matrix as random_tokens};

/// A layer under test: parameters, query, key, value and mask to output and maps.
pub type Layer = dyn Fn(&LayerParameters, &Matrix, &Matrix, &Matrix, &Mask) -> Attended;

/// What the reader writes: a test, which panics if it does not believe in the layer.
pub type LayerTest = fn(layer: &Layer);

/// Checks a test.
pub fn check(test: LayerTest) -> ExitCode {
    let verdict = outcome::within_time_limit(move || diagnose(test));
    let verdict = verdict.unwrap_or_else(|limit| Verdict::NoEnd {
        layer: limit.running,
        seconds: limit.seconds,
    });
    conclude(&message::message(&verdict), matches!(verdict, Verdict::Passed))
}

/// What was found out about a test.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It believes the right layers and catches every wrong one.
    Passed,
    /// `todo!()` still stands there.
    NotWritten,
    /// It believes every layer.
    BelievesAll,
    /// It rejects every right layer.
    RejectsEveryRight {
        /// The wrong layers that it believes, if any.
        believed: Vec<usize>,
        /// What it said of the first right one.
        panic: Panic,
    },
    /// It rejects some right layers.
    RejectsRight {
        /// The first of them, in the list of right layers.
        right: usize,
        /// How many they are.
        rejected: usize,
        /// How many wrong layers it catches.
        caught: usize,
        /// What it said of the first.
        panic: Panic,
    },
    /// It believes some wrong layers.
    Believes {
        /// Which, in the list of mistakes.
        wrong: Vec<usize>,
    },
    /// It was stopped.
    NoEnd {
        /// The layer that it was given.
        layer: String,
        /// After how many seconds.
        seconds: u64,
    },
}

/// The wrong layers: all of [`whole_layer`] but the last, which are right wherever there is no
/// NaN and no huge score.
fn mistakes() -> &'static [Mistake<whole_layer::Input, Attended>] {
    let all = whole_layer::EXERCISE.mistakes;
    &all[..all.len() - whole_layer::N_BAD_NUMBERS]
}

/// What can be said of this test.
pub fn diagnose(test: LayerTest) -> Verdict {
    let mut rejected = Vec::new();
    for (i, right) in RIGHT.iter().enumerate() {
        match run(test, &format!("a right layer, {}", right.name), &right.layer) {
            Some(panic) if panic.is_todo() => return Verdict::NotWritten,
            Some(panic) => rejected.push((i, panic)),
            None => {}
        }
    }
    let wrong = believed(test);
    let caught = mistakes().len() - wrong.len();
    match rejected.first().cloned() {
        Some((_, panic)) if rejected.len() == RIGHT.len() => {
            Verdict::RejectsEveryRight { believed: wrong, panic }
        }
        Some((right, panic)) => {
            Verdict::RejectsRight { right, rejected: rejected.len(), caught, panic }
        }
        None if caught == 0 => Verdict::BelievesAll,
        None if wrong.is_empty() => Verdict::Passed,
        None => Verdict::Believes { wrong },
    }
}

/// The wrong layers that a test believes.
fn believed(test: LayerTest) -> Vec<usize> {
    let believes = |mistake: &'static Mistake<whole_layer::Input, Attended>| {
        let what = format!("a layer that {}", mistake.name);
        run(test, &what, &wrong_layer(mistake.answer)).is_none()
    };
    let wrong = mistakes().iter().enumerate().filter(|(_, mistake)| believes(mistake));
    wrong.map(|(i, _)| i).collect()
}

/// A wrong layer as a test calls it.
fn wrong_layer(
    answer: fn(&whole_layer::Input) -> Attended,
) -> impl Fn(&LayerParameters, &Matrix, &Matrix, &Matrix, &Mask) -> Attended {
    move |parameters, query, key, value, mask| {
        answer(&whole_layer::Input {
            parameters: parameters.clone(),
            query: query.clone(),
            key: key.clone(),
            value: value.clone(),
            mask: mask.clone(),
            known: None,
        })
    }
}

/// Runs a test on a layer: its panic, or nothing if it believes in the layer.
fn run(test: LayerTest, what: &str, layer: &Layer) -> Option<Panic> {
    outcome::now_running(what);
    match outcome::call(|| test(layer)) {
        Outcome::Value(()) => None,
        Outcome::Panicked(panic) => Some(panic),
    }
}

const LENS_WRONG: Section = Section::new("a-lens-per-head", "What people get wrong");
const FUSED_WRONG: Section =
    Section::new("one-matrix-many-heads", "What people get wrong");
const MASKS_WRONG: Section = Section::new("masks", "What people get wrong");
const LAST_DIGIT: Section = Section::new("one-head", "Is my code wrong? The last digit");
const SQUARE: Section = Section::new("trained-heads", "Your own layer");

/// The exercise, whose mistakes are tests that ask too little, or too much.
pub struct WriteATest;

/// The exercise.
pub static EXERCISE: WriteATest = WriteATest;

impl Entry for WriteATest {
    fn name(&self) -> &'static str {
        "write_a_test"
    }

    fn title(&self) -> &'static str {
        "Write a test"
    }

    fn read(&self) -> Section {
        SQUARE
    }

    fn said_as_given(&self) -> String {
        message::message(&Verdict::NotWritten)
    }

    fn said_when_right(&self) -> String {
        message::message(&Verdict::Passed)
    }

    /// Weak tests, and what is said of them.
    fn named(&self) -> Vec<(&'static str, String)> {
        let said = |property: &properties::Property| {
            (property.name, message::message(&diagnose(property.test)))
        };
        PROPERTIES.iter().map(said).collect()
    }

    fn sections(&self) -> Vec<Section> {
        vec![LENS_WRONG, FUSED_WRONG, MASKS_WRONG, LAST_DIGIT, SQUARE]
    }

    #[cfg(test)]
    fn numbers(&self) -> Option<Vec<u8>> {
        None
    }

    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if diagnose(right::agrees_with_the_loops) != Verdict::Passed {
            faults.push("a comparison with the loops does not pass".into());
        }
        for property in PROPERTIES {
            if diagnose(property.test) == Verdict::Passed {
                faults.push(format!("“{}” is enough", property.name));
            }
        }
        for mistake in mistakes() {
            let by = SHOWN_BY.iter().filter(|(_, names)| names.contains(&mistake.name));
            if by.count() != 1 {
                faults.push(format!("what shows “{}”?", mistake.name));
            }
        }
        faults
    }
}
