//! What a check says.

use std::fmt::Write;

use attention::thousands;
use textwrap::{Options, fill};

use crate::{Answer, Exercise, Section};

/// What was found out about an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It is right on every input.
    Passed,
    /// `todo!()` still stands there.
    NotWritten,
    /// It does what a mistake of the bank does, on every input.
    Mistake {
        /// Which, in the exercise's list.
        mistake: usize,
        /// The first input on which it differs from the reference.
        sizes: String,
        /// How it differs there.
        difference: Difference,
    },
    /// It is right on the inputs whose sizes are equal, and on no other.
    SquareOnly {
        /// The inputs on which it is right.
        square: String,
        /// The first on which it is not.
        sizes: String,
        /// How it differs there.
        difference: Difference,
    },
    /// It differs, and from every mistake of the bank too.
    Unknown {
        /// The first input on which it differs.
        sizes: String,
        /// How it differs there.
        difference: Difference,
        /// The number by which every entry is a multiple of the reference, if there is one.
        factor: Option<f64>,
        /// How many mistakes it was compared with.
        n_known: usize,
    },
    /// It was stopped.
    NoEnd {
        /// The input that it was working on.
        sizes: String,
        /// After how many seconds.
        seconds: u64,
    },
}

/// How an answer differs from the reference.
#[derive(Debug, Clone, PartialEq)]
pub enum Difference {
    /// It panicked.
    Panic {
        /// What the panic said.
        message: String,
        /// File and line.
        at: String,
    },
    /// The wrong number of matrices.
    Parts {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A matrix of another shape.
    Shape {
        /// Which matrix.
        part: Option<String>,
        /// Its shape.
        found: (usize, usize),
        /// The shape that it should have.
        expected: (usize, usize),
    },
    /// Another number.
    Entry {
        /// Where, in words.
        place: String,
        /// The number.
        found: f64,
        /// What it should be.
        expected: f64,
    },
}

impl<I, O: Answer> Exercise<I, O> {
    /// The verdict in words.
    pub fn message(&self, verdict: &Verdict) -> String {
        let (number, _) = self.name.split_once('_').unwrap_or((self.name, ""));
        let title = format!("{number} · {}", self.title);
        match verdict {
            Verdict::Passed => {
                format!("✓ {title}: passed.\n\n{}", paragraph(self.passed))
            }
            Verdict::NotWritten => [
                format!("○ {title}: not written yet."),
                labelled("Begin with", self.begin),
                labelled("It is explained in", &self.read.to_string()),
            ]
            .join("\n\n"),
            Verdict::Mistake { mistake, sizes, difference } => {
                let mistake = &self.mistakes[*mistake];
                [
                    format!("✗ {title}: your answer {}.", mistake.name),
                    labelled("What it does", mistake.does),
                    labelled("Why it looks right", mistake.looks_right),
                    labelled(&first_difference(sizes), &difference.text()),
                    labelled("Read", &mistake.read.to_string()),
                ]
                .join("\n\n")
            }
            Verdict::SquareOnly { square, sizes, difference } => [
                format!("✗ {title}: your answer is right only where sizes are equal."),
                labelled("Right with", square),
                labelled("Not with", &format!("{sizes}. {}", difference.text())),
                labelled("Look for", SQUARE_HIDES),
                read(self.read),
            ]
            .join("\n\n"),
            Verdict::Unknown { sizes, difference, factor, n_known } => {
                let mut text = vec![
                    format!("✗ {title}: {}.", difference.summary()),
                    labelled(&first_difference(sizes), &difference.text()),
                ];
                if let Some(factor) = factor {
                    let all = format!("every entry is {factor:.4} times the reference's");
                    text.push(labelled("Everywhere", &all));
                } else if matches!(difference, Difference::Entry { .. }) {
                    let known = format!("It does what none of the {n_known} mistakes does that are known here");
                    text.push(labelled("Known mistakes", &known));
                }
                text.push(read(self.read));
                text.join("\n\n")
            }
            Verdict::NoEnd { sizes, seconds } => [
                format!("✗ {title}: stopped after {seconds} s, your answer had not ended."),
                labelled("It was given", sizes),
                labelled("Look for", "a loop whose end does not come nearer, or a function that calls itself"),
            ]
            .join("\n\n"),
        }
    }
}

const SQUARE_HIDES: &str = "a length or a width that stands for another: n_q for n_kv, \
    d_k for d_v, rows for columns. Equal sizes hide it";

impl Difference {
    /// One line for the headline.
    fn summary(&self) -> &'static str {
        match self {
            Self::Panic { .. } => "your answer panicked",
            Self::Parts { .. } | Self::Shape { .. } => "your answer has the wrong shape",
            Self::Entry { found, .. } if found.is_nan() => "your answer holds NaN",
            Self::Entry { .. } => "your answer differs from the reference",
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Panic { message, at } => format!("It panicked at {at}: {message}"),
            Self::Parts { found, expected } => {
                format!("It gives {found} matrices; {expected} were expected")
            }
            Self::Shape { part, found, expected } => {
                let mut text = format!(
                    "Its shape is ({}, {}); ({}, {}) was expected",
                    found.0, found.1, expected.0, expected.1
                );
                if let Some(part) = part {
                    let _ = write!(text, " ({part})");
                }
                if (found.1, found.0) == *expected && found.0 != found.1 {
                    text.push_str(". The sizes are right, and in the wrong order");
                }
                text
            }
            Self::Entry { place, found, expected } => {
                let off = found - expected;
                let (found, expected) = (number(*found), number(*expected));
                // Only a count has no place, and there the difference is a clue.
                let mut text = if place.is_empty() {
                    let (by, side) =
                        (number(off.abs()), if off < 0.0 { "few" } else { "many" });
                    format!("Yours is {found}, the reference {expected}: {by} too {side}")
                } else {
                    format!("{place}: yours is {found}, the reference {expected}")
                };
                if found == "NaN" {
                    text.push_str(NAN_COMES_FROM);
                }
                text
            }
        }
    }
}

const NAN_COMES_FROM: &str = ". NaN comes from 0 / 0, ∞ / ∞, ∞ − ∞ or 0 · ∞, and then \
    spreads to all that is computed from it";

fn number(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 1e15 {
        let sign = if x < 0.0 { "-" } else { "" };
        return format!("{sign}{}", thousands(x.abs() as usize));
    }
    format!("{x:.4}")
}

fn first_difference(sizes: &str) -> String {
    format!("First difference, with {sizes}")
}

fn read(section: Section) -> String {
    labelled("Read", &section.to_string())
}

/// A label on a line of its own, its text indented below.
pub(crate) fn labelled(label: &str, text: &str) -> String {
    let ended = text.ends_with(['.', '?', '”']);
    let text = if ended { text.to_string() } else { format!("{text}.") };
    let options = Options::new(WIDTH).initial_indent("    ").subsequent_indent("    ");
    format!("{}\n{}", paragraph(label), fill(&text, options))
}

pub(crate) fn paragraph(text: &str) -> String {
    let options = Options::new(WIDTH).initial_indent("  ").subsequent_indent("  ");
    fill(text, options)
}

const WIDTH: usize = 84;
