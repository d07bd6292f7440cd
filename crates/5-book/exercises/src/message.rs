//! What a check says: a verdict in words.

use attention::thousands;
use catalogue::{Answer, Exercise};
use textwrap::{Options, WordSplitter, fill};

use crate::report::{SQUARE_HIDES, coarse};
use crate::{Difference, Verdict};

/// The verdict in words.
pub fn message(exercise: &Exercise, verdict: &Verdict) -> String {
    let sheet = &exercise.sheet;
    let title = format!("{:02} · {}", exercise.number, sheet.title);
    let read = || labelled("Read", &sheet.read.to_string());
    let paragraphs = match verdict {
        Verdict::Passed => {
            let passed = [format!("✓ {title}: passed."), paragraph(&sheet.passed)];
            let is_asked = sheet.handed_out.is_some();
            let defend = format!(
                "`cargo learn check {} --defend` asks one question about it",
                exercise.name
            );
            let defend = is_asked.then(|| labelled("Now defend your answer", &defend));
            passed.into_iter().chain(defend).collect()
        }
        Verdict::NotWritten => vec![
            format!("○ {title}: not written yet."),
            labelled("Begin with", &sheet.begin),
            format!("{}\n    exercises/{}.rs", paragraph("Write it in"), exercise.name),
            labelled("It is explained in", &sheet.read.to_string()),
        ],
        Verdict::Mistake { mistake, answer, sizes, difference } => {
            let mistake = &sheet.mistakes[*mistake];
            let mut paragraphs = vec![
                format!("✗ {title}: your answer {}.", mistake.name),
                labelled("What it does", &mistake.does),
                labelled("Why it looks right", &mistake.looks_right),
                labelled(&difference.heading(sizes), &difference.text()),
            ];
            let answer = mistake.answers.get(*answer);
            let span = answer.and_then(Answer::span);
            paragraphs.extend(span.map(in_an_answer_like_ours));
            let (read, id) = (&mistake.read, &mistake.id);
            let page = match mistake.is_other_version() {
                true => read.to_string(),
                false => format!("{read}; and in the book's list of mistakes, {id}"),
            };
            paragraphs.push(labelled("Read", &page));
            paragraphs
        }
        Verdict::Coarse { may_be_right, mistakes } => {
            let names = mistakes.iter().map(|&at| {
                let mistake = &sheet.mistakes[at];
                format!(
                    "your answer {}; in the list of mistakes, {}",
                    mistake.name, mistake.id
                )
            });
            let names: Vec<String> = names.collect();
            let mut paragraphs =
                vec![format!("✗ {title}: {}.", coarse(*may_be_right, names.len()))];
            if !names.is_empty() {
                paragraphs.push(list("It may be that", &names.join("\n")));
            }
            paragraphs.push(labelled("To know", MORE_DIGITS));
            paragraphs
        }
        Verdict::SquareOnly { square, sizes, difference } => vec![
            format!("✗ {title}: your answer is right only where sizes are equal."),
            list("Right with", square),
            labelled("Not with", &format!("{sizes}. {}", difference.text())),
            labelled("Look for", SQUARE_HIDES),
            read(),
        ],
        Verdict::Unknown { right, sizes, difference, pattern, n_known } => {
            let summary = match pattern {
                Some(pattern) => format!("your answer {}", pattern.summary()),
                None => difference.summary().to_owned(),
            };
            let mut paragraphs = vec![format!("✗ {title}: {summary}.")];
            if !right.is_empty() {
                paragraphs.push(list("Right with", right));
            }
            paragraphs.push(labelled(&difference.heading(sizes), &difference.text()));
            if let Some(pattern) = pattern {
                paragraphs.push(labelled("Look for", pattern.advice()));
            } else if matches!(difference, Difference::Entry { .. }) {
                let known = format!(
                    "It is none of the {n_known} mistakes that are known here. With dbg!, \
                     print {}; or ask for the hint",
                    sheet.print
                );
                paragraphs.push(labelled("Known mistakes", &known));
            }
            paragraphs.push(read());
            paragraphs
        }
        Verdict::NoEnd { sizes, seconds } => vec![
            format!("✗ {title}: stopped after {seconds} s, your answer had not ended."),
            labelled("It was given", sizes),
            labelled("Look for", NO_END),
        ],
    };
    paragraphs.join("\n\n")
}

fn in_an_answer_like_ours(span: &str) -> String {
    format!("{}\n    {span}", paragraph("In an answer like ours it would be"))
}

/// A label, and an entry a line below it.
fn list(label: &str, entries: &str) -> String {
    let entries: Vec<&str> = entries.lines().collect();
    match entries[..] {
        [entry] => labelled(label, entry),
        _ => {
            let lines = entries
                .iter()
                .map(|entry| fill(entry, indented("    - ").subsequent_indent("      ")));
            format!("{}\n{}", paragraph(label), lines.collect::<Vec<_>>().join("\n"))
        }
    }
}

const MORE_DIGITS: &str = "compute in float32 or float64, and give all digits";

const NO_END: &str =
    "a loop whose end does not come nearer, or a function that calls itself";

impl Difference {
    /// Whether a `usize` went below 0.
    pub(crate) fn is_below_zero(&self) -> bool {
        matches!(self, Self::Panic { message, .. } if message.contains(UNDERFLOW))
    }

    /// One line for the headline.
    pub(crate) fn summary(&self) -> &'static str {
        match self {
            Self::Panic { at, .. } if is_rust(at) => "your answer panicked",
            Self::Panic { .. } => "your answer failed",
            Self::Parts { .. } | Self::Shape { .. } => "your answer has the wrong shape",
            Self::Entry { found, .. } if found.is_nan() => "your answer has a NaN in it",
            Self::Entry { is_behind: true, .. } => {
                "your outputs are right, and the work that is done for them is not"
            }
            Self::Entry { .. } => "your answer differs from the reference",
        }
    }

    /// What stands above the text.
    pub fn heading(&self, sizes: &str) -> String {
        match self {
            Self::Entry { .. } => format!("First difference, with {sizes}"),
            _ => format!("With {sizes}"),
        }
    }

    /// What differs, in words.
    pub fn text(&self) -> String {
        match self {
            Self::Panic { message, at } => {
                let verb = if is_rust(at) { "panicked" } else { "failed" };
                format!("It {verb} at {at}: {}", explained(message))
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
            Self::Entry { place, found, expected, .. } => {
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

/// Whether a place is in a file of Rust, in which one speaks of a panic.
fn is_rust(at: &str) -> bool {
    at.contains(".rs:") || at == "an unknown place"
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

/// A label on a line of its own, its text indented below.
pub fn labelled(label: &str, text: &str) -> String {
    let ended = text.ends_with(['.', '?', '”']);
    let text = if ended { text.to_string() } else { format!("{text}.") };
    format!("{}\n{}", paragraph(label), fill(&text, indented("    ")))
}

/// A paragraph of a message.
pub fn paragraph(text: &str) -> String {
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
    use crate::outcome::{self, Outcome};

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

    #[test]
    fn a_list_whose_entries_hold_semicolons_has_a_line_for_each() {
        let entries = "5 keys; blocks of 2 + 3\n7 keys";
        let expected = "  Right with\n    - 5 keys; blocks of 2 + 3\n    - 7 keys";
        assert_eq!(list("Right with", entries), expected);
        assert_eq!(list("Right with", "7 keys"), "  Right with\n    7 keys.");
    }
}
