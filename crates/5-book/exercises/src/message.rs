//! What a check says: a verdict in words.

use attention::thousands;
use textwrap::{Options, WordSplitter, fill};

use crate::{Answer, Difference, Entry, Exercise, Section, Verdict};

impl<I, O: Answer> Exercise<I, O> {
    /// The verdict in words.
    pub fn message(&self, verdict: &Verdict) -> String {
        let title = format!("{:02} · {}", self.number(), self.title);
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
                    labelled(&difference.heading(sizes), &difference.text()),
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
            Verdict::Unknown { right, sizes, difference, pattern, n_known } => {
                let summary = match pattern {
                    Some(pattern) => format!("your answer {}", pattern.summary()),
                    None => difference.summary().to_owned(),
                };
                let mut text = vec![format!("✗ {title}: {summary}.")];
                if !right.is_empty() {
                    text.push(labelled("Right with", right));
                }
                text.push(labelled(&difference.heading(sizes), &difference.text()));
                if let Some(pattern) = pattern {
                    text.push(labelled("Look for", pattern.advice()));
                } else if matches!(difference, Difference::Entry { .. }) {
                    let known = format!(
                        "It is none of the {n_known} mistakes that are known here. With \
                         dbg!, print {}; or ask for the hint",
                        self.print
                    );
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
    /// Whether a `usize` went below 0.
    pub(crate) fn is_below_zero(&self) -> bool {
        matches!(self, Self::Panic { message, .. } if message.contains(UNDERFLOW))
    }

    /// One line for the headline.
    fn summary(&self) -> &'static str {
        match self {
            Self::Panic { .. } => "your answer panicked",
            Self::Parts { .. } | Self::Shape { .. } => "your answer has the wrong shape",
            Self::Entry { found, .. } if found.is_nan() => "your answer has a NaN in it",
            Self::Entry { .. } => "your answer differs from the reference",
        }
    }

    /// What stands above the text.
    fn heading(&self, sizes: &str) -> String {
        match self {
            Self::Entry { .. } => format!("First difference, with {sizes}"),
            _ => format!("With {sizes}"),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Panic { message, at } => {
                format!("It panicked at {at}: {}", explained(message))
            }
            Self::Parts { found, expected } => {
                format!("It returns {found}; {expected} were expected")
            }
            Self::Shape { part, found, expected, asked } => {
                let subject = match part {
                    Some(part) => format!("The shape of {part}"),
                    None => "Its shape".into(),
                };
                let asked = asked.map_or_else(
                    || format!("({}, {}) was expected", expected.0, expected.1),
                    str::to_string,
                );
                let mut text =
                    format!("{subject} is ({}, {}); {asked}", found.0, found.1);
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

/// What a panic said, and in plain words what that means where the words are nalgebra's.
fn explained(message: &str) -> String {
    if message.contains(UNDERFLOW) {
        return format!("{message}{BELOW_ZERO}");
    }
    if !message.contains("dimensions mismatch") {
        return message.to_string();
    }
    let first_line = message.lines().next().unwrap_or(message);
    let size = |side: &str| {
        let line = message.lines().find_map(|line| line.trim().strip_prefix(side))?;
        line.trim().parse::<usize>().ok()
    };
    match (size("left:"), size("right:")) {
        (Some(columns), Some(rows)) => format!(
            "{first_line} The left factor has {columns} columns and the right one {rows} \
             rows{FACTORS_FIT}"
        ),
        _ if first_line.to_lowercase().starts_with("gem") => format!(
            "{first_line} The columns of the left factor are not as many as the rows of the \
             right one{FACTORS_FIT}: print both shapes before that line"
        ),
        _ => message.to_string(),
    }
}

const FACTORS_FIT: &str = ". In a product A · B they must be equal; the sizes of the input \
    stand above";

/// What a subtraction says that a `usize` has no room for.
const UNDERFLOW: &str = "subtract with overflow";

const BELOW_ZERO: &str = ". A usize cannot go below 0: `j > i + a` asks the same as \
    `j - a > i` and never does";

const NAN_COMES_FROM: &str = ". NaN comes from 0 / 0, ∞ / ∞, ∞ − ∞ or 0 · ∞, and then \
    spreads to all that is computed from it";

fn number(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 1e15 {
        let sign = if x < 0.0 { "-" } else { "" };
        return format!("{sign}{}", thousands(x.abs() as usize));
    }
    format!("{x:.4}")
}

fn read(section: Section) -> String {
    labelled("Read", &section.to_string())
}

/// A label on a line of its own, its text indented below.
pub(crate) fn labelled(label: &str, text: &str) -> String {
    let ended = text.ends_with(['.', '?', '”']);
    let text = if ended { text.to_string() } else { format!("{text}.") };
    format!("{}\n{}", paragraph(label), fill(&text, indented("    ")))
}

pub(crate) fn paragraph(text: &str) -> String {
    fill(text, indented("  "))
}

/// Lines are broken between words only: a path stays whole.
fn indented(by: &str) -> Options<'_> {
    Options::new(WIDTH)
        .initial_indent(by)
        .subsequent_indent(by)
        .word_splitter(WordSplitter::NoHyphenation)
}

const WIDTH: usize = 84;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;
    use crate::bank::*;
    use crate::outcome::{self, Outcome};

    #[test]
    fn what_is_printed_is_there_to_be_printed() {
        let unknown = Verdict::Unknown {
            right: String::new(),
            sizes: "two tokens".into(),
            difference: Difference::Entry {
                place: "here".into(),
                found: 1.0,
                expected: 2.0,
            },
            pattern: None,
            n_known: 7,
        };
        for message in [
            concatenation::EXERCISE.message(&unknown),
            packing::EXERCISE.message(&unknown),
            count_parameters::EXERCISE.message(&unknown),
            count_multiply_adds::EXERCISE.message(&unknown),
            transposed_weights::EXERCISE.message(&unknown),
            projection_backward::EXERCISE.message(&unknown),
        ] {
            assert!(!message.contains("scores") && message.contains("dbg!"), "{message}");
        }
    }

    #[test]
    fn factors_that_do_not_fit_are_named_with_their_sizes() {
        let explained_panic = |[n, m, p]: [usize; 3]| {
            let (left, right) = (Matrix::<f64>::zeros(n, m), Matrix::<f64>::zeros(p, n));
            match outcome::call(|| left * right) {
                Outcome::Panicked(panic) => explained(&panic.message),
                Outcome::Value(_) => panic!("they fit"),
            }
        };
        insta::assert_snapshot!(explained_panic([7, 8, 9]), @"assertion `left == right` failed: gemm: dimensions mismatch for multiplication. The left factor has 8 columns and the right one 9 rows. In a product A · B they must be equal; the sizes of the input stand above");
        insta::assert_snapshot!(explained_panic([3, 4, 2]), @"Gemv: dimensions mismatch. The columns of the left factor are not as many as the rows of the right one. In a product A · B they must be equal; the sizes of the input stand above: print both shapes before that line");
    }
}
