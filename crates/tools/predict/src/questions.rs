//! The questions: one module a chapter, one idea a question.
//!
//! A new one is a `Question` at the end of its chapter's list. Its `pose` chooses numbers by
//! a seed, so that a question that was missed comes back with others. Its text gives the
//! sizes and not the answer; its run makes the thing and reads the answer off it. A test
//! asks all of them with several seeds, and another looks whether the section that they name
//! is in the book.

mod a_lens_per_head;
mod bad_numbers;
mod counting;
mod heads_that_specialise;
mod learning;
mod masks;
mod one_head;
mod one_look_is_not_enough;
mod one_matrix_many_heads;
mod parts;
mod scores_softmax_scale;
mod the_backward_pass;
mod the_ladder;
mod trained_heads;

use std::fmt;

use anyhow::{Result, ensure};

use super::answer::{Answer, Form};

/// A chapter of the book, with its questions.
#[derive(Debug)]
pub struct Chapter {
    /// As it is in the names of its files.
    pub number: u8,
    /// As it stands at its head.
    pub title: &'static str,
    /// In the order in which they are asked.
    pub questions: &'static [Question],
}

/// A question, before anything is computed.
#[derive(Debug)]
pub struct Question {
    /// Under which its answers are kept. It never changes, and no other question gets it.
    pub id: &'static str,
    /// A few words for lists.
    pub title: &'static str,
    /// The heading in its chapter under which the answer is explained.
    pub section: &'static str,
    /// The question with the numbers of this seed: those of seed 0 are asked first.
    pub pose: fn(seed: u64) -> Posed,
}

/// A question with its numbers, before anything is computed.
pub struct Posed {
    /// What is asked.
    pub text: String,
    /// A step on the way.
    pub hint: String,
    /// What kind of answer there is.
    pub form: Form,
    run: Box<dyn Fn() -> Result<Outcome>>,
}

impl Posed {
    fn new(
        text: impl Into<String>,
        hint: impl Into<String>,
        form: Form,
        run: impl Fn() -> Result<Outcome> + 'static,
    ) -> Self {
        Self { text: text.into(), hint: hint.into(), form, run: Box::new(run) }
    }

    /// Makes the thing and looks.
    ///
    /// # Errors
    /// What is made from parts of this program does not fail.
    pub fn run(&self) -> Result<Outcome> {
        (self.run)()
    }
}

/// The numbers of this seed, of those that a question can be asked with.
fn of<T: Copy, const N: usize>(seed: u64, numbers: [T; N]) -> T {
    numbers[(seed % N as u64) as usize]
}

/// What came out of a run.
#[derive(Debug)]
pub struct Outcome {
    /// What there is to be seen: a ledger, a line of a trace, a row of a map.
    pub shown: String,
    /// The answer that was read off it.
    pub answer: Answer,
    /// Why it is so, in a sentence or two.
    pub why: String,
    /// Answers to something else that one may have in mind.
    pub slips: Vec<Slip>,
}

/// A wrong answer that makes sense, computed as the right one is.
#[derive(Debug)]
pub struct Slip {
    /// What is given.
    pub answer: Answer,
    /// Of what it would be the answer.
    pub says: String,
}

impl Outcome {
    fn new(answer: Answer, shown: impl Into<String>, why: impl Into<String>) -> Self {
        Self { shown: shown.into(), answer, why: why.into(), slips: Vec::new() }
    }

    fn slip(mut self, answer: Answer, says: impl Into<String>) -> Self {
        self.slips.push(Slip { answer, says: says.into() });
        self
    }
}

/// A question and the chapter that it belongs to.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// Where it is explained.
    pub chapter: &'static Chapter,
    /// What is asked.
    pub question: &'static Question,
}

/// The chapters that have questions.
pub static CHAPTERS: [Chapter; 13] = [
    one_look_is_not_enough::CHAPTER,
    scores_softmax_scale::CHAPTER,
    one_head::CHAPTER,
    a_lens_per_head::CHAPTER,
    one_matrix_many_heads::CHAPTER,
    counting::CHAPTER,
    masks::CHAPTER,
    bad_numbers::CHAPTER,
    the_backward_pass::CHAPTER,
    learning::CHAPTER,
    heads_that_specialise::CHAPTER,
    trained_heads::CHAPTER,
    the_ladder::CHAPTER,
];

/// Every question, in the order of the chapters.
pub fn all() -> impl Iterator<Item = Asked> {
    let of = |chapter: &'static Chapter| {
        chapter.questions.iter().map(move |question| Asked { chapter, question })
    };
    CHAPTERS.iter().flat_map(of)
}

/// The questions of one chapter.
///
/// # Errors
/// A chapter that has none, with those that have some.
pub fn of_chapter(number: u8) -> Result<Vec<Asked>> {
    let found: Vec<Asked> =
        all().filter(|asked| asked.chapter.number == number).collect();
    let known = CHAPTERS.iter().map(|chapter| chapter.number.to_string());
    let known = known.collect::<Vec<_>>().join(", ");
    ensure!(
        !found.is_empty(),
        "no question is about chapter {number}; there are some about {known}"
    );
    Ok(found)
}

impl fmt::Display for Chapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chapter {}, {}", self.number, self.title)
    }
}
