//! The questions: one module a topic, one idea a question.
//!
//! A new one is a `Question` at the end of its topic's list. Its `pose` chooses numbers by
//! a seed, so that a question that was missed comes back with others. Its text gives the
//! sizes and not the answer; its run makes the thing and reads the answer off it. A test
//! asks all of them with several seeds, and another looks whether the section that they name
//! is in the book.

mod a_lens_per_head;
mod a_model_that_writes;
mod bad_numbers;
mod counting;
mod from_one_sequence_to_another;
mod heads_that_specialise;
mod learning;
mod many_machines;
mod masks;
mod one_head;
mod one_look_is_not_enough;
mod one_matrix_many_heads;
mod parts;
mod scores_softmax_scale;
mod sensors;
mod the_backward_pass;
mod the_block;
mod the_ladder;
mod trained_heads;
mod two_layers;
mod variants;

use anyhow::{Result, ensure};
use workshop::chapters::Chapter;

use super::answer::{Answer, Form};

/// What one chapter is about, with its questions.
#[derive(Debug)]
pub struct Topic {
    /// `masks`: as its page is named, without the number that it has at present.
    pub name: &'static str,
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
    pub pose: fn(seed: u64) -> Instance,
}

/// A question with its numbers, before anything is computed.
pub struct Instance {
    /// What is asked.
    pub text: String,
    /// A step on the way.
    pub hint: String,
    /// What kind of answer there is.
    pub form: Form,
    run: Box<dyn Fn() -> Result<Outcome>>,
}

impl Instance {
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

/// A question in the book.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// Where it is explained.
    pub chapter: &'a Chapter,
    /// What is asked.
    pub question: &'static Question,
}

/// What there are questions about.
pub static TOPICS: [Topic; 20] = [
    one_look_is_not_enough::TOPIC,
    scores_softmax_scale::TOPIC,
    one_head::TOPIC,
    a_lens_per_head::TOPIC,
    one_matrix_many_heads::TOPIC,
    counting::TOPIC,
    masks::TOPIC,
    bad_numbers::TOPIC,
    the_backward_pass::TOPIC,
    learning::TOPIC,
    heads_that_specialise::TOPIC,
    the_block::TOPIC,
    two_layers::TOPIC,
    from_one_sequence_to_another::TOPIC,
    trained_heads::TOPIC,
    variants::TOPIC,
    a_model_that_writes::TOPIC,
    the_ladder::TOPIC,
    many_machines::TOPIC,
    sensors::TOPIC,
];

/// Every question, in the order of the chapters.
pub fn all(chapters: &[Chapter]) -> Vec<Entry<'_>> {
    let of = |chapter: &Chapter| {
        let topic = TOPICS.iter().find(|topic| topic.name == chapter.topic());
        topic.map_or(&[][..], |topic| topic.questions)
    };
    let entries =
        |chapter| of(chapter).iter().map(move |question| Entry { chapter, question });
    chapters.iter().flat_map(entries).collect()
}

/// The questions of one chapter.
///
/// # Errors
/// A chapter that has none, with those that have some.
pub fn of_chapter(chapters: &[Chapter], number: u8) -> Result<Vec<Entry<'_>>> {
    let mut entries = all(chapters);
    let mut known: Vec<u8> = entries.iter().map(|entry| entry.chapter.number).collect();
    known.dedup();
    let known = known.iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
    entries.retain(|entry| entry.chapter.number == number);
    ensure!(
        !entries.is_empty(),
        "no question is about chapter {number}; there are some about {known}"
    );
    Ok(entries)
}
