//! What a reader predicts before it runs.
//!
//! A prediction makes a reader commit to an idea before the numbers arrive. So a question
//! here has an answer that can be compared with theirs: a number, a shape, a token.
//!
//! A question is **a text, numbers, and the slips that people make**, in the file of its
//! topic, `set/TOPIC.md`; and a run in `topics`, which makes the thing from the numbers
//! and names what came out. No answer is stored: each is a fact of a run, and so is each slip.
//! [`topics`] are all questions, [`Question::pose`] fills in the numbers of a seed, and
//! [`Posed::run`] says what came out. [`Form::read`] reads a line, and [`Form::judge`] compares
//! it with the answer.
//!
//! The one decision: **what asks is a view of this list**. No file, no thread and no clock
//! is used here, and the order of topics is that of the chapters, which is not known here.

mod answer;
mod facts;
mod parts;
mod question;
mod sheet;
mod template;
#[cfg(test)]
mod tests;
mod topics;

pub use answer::{Answer, Form, Prediction, Verdict};
pub use question::{Outcome, Posed, Question, Slip};
pub use topics::{Topic, topics};
