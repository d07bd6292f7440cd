//! The other way round: the reader writes a test, and it is run against layers that are right
//! and against wrong ones.
//!
//! The wrong layers are the mistakes of the exercise `whole_layer`, compiled from its sheet by
//! `build.rs`; what it takes to see each stands in the sheet of `write_a_test`. So this is the
//! one check whose answer meets code and not numbers, and it has a crate of its own.

mod message;
mod right;
#[cfg(test)]
mod tests;

// A solution that a test includes says `use layers::…`, as it does on its own.
#[cfg(test)]
extern crate self as layers;

use std::process::ExitCode;

use attention::{Attended, LayerParameters, Mask, Matrix};
use catalogue::{Exercise, Mistake};
use exercises::{
    Ending, Outcome, Panic, Report, call, now_running, within_time_limit, words,
};

use right::RIGHT;

pub use exercises::inputs::random::{layer as random_layer, matrix as random_tokens};

/// A layer under test: parameters, query, key, value and mask to output and maps.
pub type Layer = dyn Fn(&LayerParameters, &Matrix, &Matrix, &Matrix, &Mask) -> Attended;

/// What the reader writes: a test, which panics if it does not believe in the layer.
pub type LayerTest = fn(layer: &Layer);

type LayerFn = fn(&LayerParameters, &Matrix, &Matrix, &Matrix, &Mask) -> Attended;

include!(concat!(env!("OUT_DIR"), "/wrong.rs"));

/// In a project that was handed out without solutions.
const UNCHECKED: &str = "not checked, since the wrong layers are edits of a solution, and this \
                         set was handed out without solutions";

/// What the sheets say of this exercise and of the layers.
struct Sheets {
    own: Exercise,
    whole_layer: Exercise,
}

impl Sheets {
    fn read() -> catalogue::Result<Self> {
        let [own, whole_layer] = ["write_a_test", "whole_layer"].map(catalogue::find);
        Ok(Self { own: own?, whole_layer: whole_layer? })
    }

    /// The mistake of a wrong layer, by its place in the list.
    fn mistake(&self, wrong: usize) -> &Mistake {
        &self.whole_layer.sheet.mistakes[WRONG[wrong].0]
    }
}

/// Checks a test.
pub fn check(test: LayerTest) -> ExitCode {
    let words = words();
    if exercises::seed().is_some() {
        words.ending(within_time_limit(move || panics(test)));
        return ExitCode::SUCCESS;
    }
    let sheets = match Sheets::read() {
        Ok(sheets) => sheets,
        Err(fault) => {
            eprintln!("the check itself cannot begin: {fault}");
            return ExitCode::FAILURE;
        }
    };
    if WRONG.is_empty() {
        let own = &sheets.own;
        let text = format!("✗ {:02} · {}: {UNCHECKED}.", own.number, own.sheet.title);
        let report =
            || Report::without_numbers(&own.into(), "not-checked", UNCHECKED.into());
        words.say(&text, report);
        return ExitCode::FAILURE;
    }
    let panics = within_time_limit(move || panics(test));
    let verdict = panics.map_or_else(
        |limit| Verdict::NoEnd { layer: limit.running, seconds: limit.seconds },
        |panics| Verdict::of(&panics),
    );
    let text = message::message(&sheets, &verdict);
    words.say(&text, || report(&sheets.own, &verdict, &text));
    if matches!(verdict, Verdict::Passed) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The report and the verdict in words on the line that [`check`] printed in a process of its
/// own; nothing where it is no such line.
///
/// # Errors
/// A sheet that cannot be read.
pub fn report_on_line(line: &str) -> catalogue::Result<Option<(Report, String)>> {
    let sheets = Sheets::read()?;
    let verdict = match serde_json::from_str(line) {
        Ok(Ending::NoEnd { sizes, seconds }) => Verdict::NoEnd { layer: sizes, seconds },
        Ok(Ending::Outcomes(panics))
            if Vec::len(&panics) == RIGHT.len() + WRONG.len() =>
        {
            Verdict::of(&panics)
        }
        _ => return Ok(None),
    };
    let text = message::message(&sheets, &verdict);
    Ok(Some((report(&sheets.own, &verdict, &text), text)))
}

/// The verdict as data: that of a test has no numbers.
fn report(exercise: &Exercise, verdict: &Verdict, text: &str) -> Report {
    let name = match verdict {
        Verdict::Passed => "passed",
        Verdict::NotWritten => "not-written",
        Verdict::NoEnd { .. } => "no-end",
        _ => "unknown",
    };
    let first_line = text.lines().next().unwrap_or_default();
    let summary = first_line.split_once(": ").map_or(first_line, |(_, it)| it);
    Report::without_numbers(&exercise.into(), name, summary.to_owned())
}

/// What was found out about a test.
#[derive(Debug, Clone, PartialEq)]
enum Verdict {
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
        /// Which, in the list of wrong layers.
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

/// What a test says of the right layers and then of the wrong ones: its panic, or nothing if
/// it believes in one.
fn panics(test: LayerTest) -> Vec<Option<Panic>> {
    let right = RIGHT
        .iter()
        .map(|right| run(test, &format!("a right layer, {}", right.name), &right.layer));
    let wrong = WRONG.iter().enumerate();
    let wrong =
        wrong.map(|(at, (_, layer))| run(test, &format!("wrong layer {at}"), layer));
    right.chain(wrong).collect()
}

impl Verdict {
    /// What can be said of a test, by what it says of every layer.
    fn of(panics: &[Option<Panic>]) -> Self {
        let (right, wrong) = panics.split_at(RIGHT.len());
        let panic = |(at, panic): (usize, &Option<Panic>)| Some((at, panic.clone()?));
        let rejected: Vec<(usize, Panic)> =
            right.iter().enumerate().filter_map(panic).collect();
        if rejected.iter().any(|(_, panic)| panic.is_todo()) {
            return Self::NotWritten;
        }
        let wrong: Vec<usize> =
            (0..wrong.len()).filter(|&at| wrong[at].is_none()).collect();
        let caught = WRONG.len() - wrong.len();
        match rejected.first().cloned() {
            Some((_, panic)) if rejected.len() == RIGHT.len() => {
                Self::RejectsEveryRight { believed: wrong, panic }
            }
            Some((right, panic)) => {
                Self::RejectsRight { right, rejected: rejected.len(), caught, panic }
            }
            None if caught == 0 => Self::BelievesAll,
            None if wrong.is_empty() => Self::Passed,
            None => Self::Believes { wrong },
        }
    }
}

/// Runs a test on a layer: its panic, or nothing if it believes in the layer.
fn run(test: LayerTest, what: &str, layer: &Layer) -> Option<Panic> {
    now_running(what);
    match call(|| test(layer)) {
        Outcome::Value(()) => None,
        Outcome::Panicked(panic) => Some(panic),
    }
}
