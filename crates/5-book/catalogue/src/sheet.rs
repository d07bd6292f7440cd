//! The second file of an exercise, `NAME.md`: all that is said of it but what it asks.
//!
//! ```text
//! # Softmax
//! Read: From scores to shares: softmax
//! Begin: one row: take the exponential of each of its scores
//! Print: one row: its exponentials and their sum
//! Passed: Every row sums to 1, and no score is too large for it.
//! Elsewhere: From scores [n_q, n_kv], return the attention weights [n_q, n_kv].
//!
//! ## Hints
//! 1. A first step.
//!
//! ## Right answers
//! ### the stages' own {#stages}
//! (a fenced function, in place of the answer of the solution)
//!
//! ## Mistakes
//! ### takes powers of 2 and not of e {#softmax-base-two}
//! A score that is larger by 1 gets twice the weight, where it should get e ≈ 2.72 times.
//! Looks right: The rows sum to 1, and are only less sharp.
//! Read: masks / What people get wrong
//!     .exp() → .exp2()
//!
//! ## Other answers
//! ### passed
//!     row.max() → row.iter().copied().fold(f64::NEG_INFINITY, f64::max)
//!
//! ## Variants
//! ### takes powers of 2 {#base-two}
//! What the learner is told, in place of what the book asks.
//! Book: takes powers of e
//! Texts: exponential of → power of 2 of
//! Hints: 2
//! Without: softmax-base-two
//!     .exp() → .exp2()
//! ```
//!
//! `Elsewhere:` says what a function in another language gets and returns. Where its place is
//! taken by `Rust alone:`, that says why the answer is no function of numbers.
//!
//! A section is named by its heading, and by its chapter's topic before ` / ` where it is in
//! another chapter than the exercise; a mistake without one is explained where the exercise
//! is. Each indented line is an answer, ` ;; ` stands between two of its edits, and a line
//! that is indented by eight continues it. `{#id of=stage}` says which right answer is edited,
//! where it is not the solution.
//!
//! A variant is one line of edits of the solution. Its name says what it does, `Book:` what the
//! book's version does there, and `Texts:` edits all that the exercise says; `Begin:`, `Print:`
//! and `Passed:` replace those lines, `Hints:` leaves out steps of the hint, by their numbers,
//! and `Without:`, by their ids, mistakes that are right in it or that it makes equal to another,
//! and other right answers that are wrong in it.
//!
//! A line `Handed out: seed 17, variant base-two` at the top says that this is a sheet of
//! [`crate::Exercise::handed_out`]: its mistakes have no edits, and `Minutes:` says how long it
//! takes.

mod body;
mod place;
#[cfg(test)]
mod tests;
mod text;
mod variant;

use crate::chapters::Chapter;
use crate::{Answer, Fault, Result, Section};
use body::steps;
use place::Place;

pub(crate) use body::body_of;
pub use body::{Block, blocks};
pub use variant::Variant;
pub(crate) use variant::{UNVARIED, VARIANT};

/// What a sheet says.
#[derive(Debug, Clone)]
pub struct Sheet {
    /// What the reader learns to write, a few words.
    pub title: String,
    /// The section that explains it.
    pub read: Section,
    /// Where to begin, said while nothing is written.
    pub begin: String,
    /// What is worth printing when an answer is wrong in a way that is not known here.
    pub print: String,
    /// What is said once the answer is right: what now holds.
    pub passed: String,
    /// What a function in another language gets and returns.
    pub elsewhere: Elsewhere,
    /// How to go about it, step by step.
    pub hints: Vec<String>,
    /// Right answers beside the solution.
    pub right: Vec<Right>,
    /// What people write instead, in the order in which an answer is compared with them.
    pub mistakes: Vec<Mistake>,
    /// Answers that are none of these, under the verdict that each should get.
    pub others: Vec<Other>,
    /// Of the exercise in which a test is written: what shows which mistakes of a layer.
    pub shown_by: Vec<ShownBy>,
    /// Other tasks, each an edit of the solution.
    pub variants: Vec<Variant>,
    /// By which seed and in which variant it was handed out, without answers.
    pub handed_out: Option<String>,
    /// How long it takes, where no solution tells.
    pub minutes: Option<usize>,
}

/// Whether an answer may be written in another language than Rust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elsewhere {
    /// A function that gets and returns this.
    Function(String),
    /// It may not, because of this.
    RustAlone(String),
}

/// What it takes to see some mistakes.
#[derive(Debug, Clone)]
pub struct ShownBy {
    /// An input, or a property.
    pub what: String,
    /// The ids of the mistakes that it shows.
    pub mistakes: Vec<String>,
}

/// A right answer beside the solution.
#[derive(Debug, Clone)]
pub struct Right {
    /// What it is called.
    pub name: String,
    /// Its name for those who edit it.
    pub id: String,
    /// The functions in place of the solution's answer.
    pub function: String,
    /// Where it stands in the sheet, counted from 1.
    pub line: usize,
}

/// A mistake: its texts, and the answers that make it.
#[derive(Debug, Clone)]
pub struct Mistake {
    /// What it is called: `divides by √d_model`.
    pub name: String,
    /// Its name for programs, which stays.
    pub id: String,
    /// The right answer that is edited, where it is not the solution.
    pub of: Option<String>,
    /// What it does, in one sentence.
    pub does: String,
    /// Why it looks right, in one sentence.
    pub looks_right: String,
    /// The section that explains it.
    pub read: Section,
    /// The answers that make it.
    pub answers: Vec<Answer>,
    /// Where it stands in the sheet, counted from 1.
    pub line: usize,
}

/// Answers that get a verdict that is no mistake of the sheet.
#[derive(Debug, Clone)]
pub struct Other {
    /// The verdict: `passed`, `has the wrong shape`.
    pub verdict: String,
    /// The right answer that is edited, where it is not the solution.
    pub of: Option<String>,
    /// The answers.
    pub answers: Vec<Answer>,
}

impl Sheet {
    /// Reads a sheet of an exercise that stands in the chapter about a topic.
    pub(crate) fn parse(
        text: &str,
        file: &str,
        topic: &str,
        chapters: &[Chapter],
    ) -> Result<Self> {
        let blocks = blocks(text);
        let (head, parts) = blocks
            .split_first()
            .filter(|(head, _)| head.level == 1)
            .ok_or_else(|| Fault::new(file, 1, "it does not begin with `# Title`"))?;
        let at = Place { file, topic, chapters };
        let body = at.body(head)?;
        let key = |key: &str| {
            body.key(key)
                .ok_or_else(|| Fault::new(file, head.line, format!("no `{key}:`")))
        };
        let mut sheet = Self {
            title: head.heading.to_owned(),
            read: at.section(&key("Read")?, head.line)?,
            begin: key("Begin")?,
            print: key("Print")?,
            passed: key("Passed")?,
            elsewhere: match body.key("Rust alone") {
                Some(why) => Elsewhere::RustAlone(why),
                None => Elsewhere::Function(key("Elsewhere")?),
            },
            hints: Vec::new(),
            right: Vec::new(),
            mistakes: Vec::new(),
            others: Vec::new(),
            shown_by: Vec::new(),
            variants: Vec::new(),
            handed_out: body.key("Handed out"),
            minutes: body.key("Minutes").and_then(|minutes| minutes.parse().ok()),
        };
        sheet.read_parts(parts, &at)?;
        Ok(sheet)
    }

    /// What stands below `## Hints` and its like.
    fn read_parts(&mut self, parts: &[Block], at: &Place) -> Result<()> {
        let mut part = "";
        for block in parts {
            if block.level == 2 {
                part = block.heading;
                if part == "Hints" {
                    self.hints = steps(block);
                }
                continue;
            }
            match part {
                "Right answers" => self.right.push(at.right(block)?),
                "Mistakes" => {
                    let mistake = at.mistake(block, self)?;
                    self.mistakes.push(mistake);
                }
                "What shows it" => {
                    let ids = at.body(block)?.text;
                    let mistakes = ids.split_whitespace().map(str::to_owned).collect();
                    self.shown_by
                        .push(ShownBy { what: block.heading.to_owned(), mistakes });
                }
                "Variants" => {
                    let variant = at.variant(block, self)?;
                    self.variants.push(variant);
                }
                "Other answers" => self.others.push(at.other(block)?),
                _ => {
                    return Err(
                        at.fault(block.line, format!("no part {part:?} is known"))
                    );
                }
            }
        }
        Ok(())
    }

    /// The function of the right answer of this name.
    ///
    /// # Errors
    /// None such.
    pub fn function(
        &self,
        of: Option<&str>,
        file: &str,
        line: usize,
    ) -> Result<Option<&str>> {
        let Some(id) = of else { return Ok(None) };
        let right = self.right.iter().find(|right| right.id == id);
        let right = right.ok_or_else(|| {
            Fault::new(file, line, format!("no right answer is {id:?}"))
        })?;
        Ok(Some(&right.function))
    }
}
