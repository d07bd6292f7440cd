//! The topics: for each its file of questions, and their runs.

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
mod scores_softmax_scale;
mod sensors;
mod the_backward_pass;
mod the_block;
mod the_ladder;
mod trained_heads;
mod two_layers;
mod variants;

use catalogue::Result;

use crate::question::{Question, Run};
use crate::sheet;

/// What one chapter is about, with its questions.
#[derive(Debug)]
pub struct Topic {
    /// `masks`: as its chapter's file is named, without the number that it has at present.
    pub name: &'static str,
    /// In the order in which they are asked.
    pub questions: Vec<Question>,
}

/// The topics' files, by the alphabet: the book's contents order them.
macro_rules! files {
    ($($name:literal $runs:ident)*) => {
        [$(($name, concat!("questions/", $name, ".md"),
            include_str!(concat!("../questions/", $name, ".md")), $runs::RUNS)),*]
    };
}

/// Its name, its file, what that says, and a run for each of its questions' ids.
type File = (&'static str, &'static str, &'static str, &'static [(&'static str, Run)]);

const FILES: [File; 20] = files! {
    "a-lens-per-head" a_lens_per_head
    "a-model-that-writes" a_model_that_writes
    "bad-numbers" bad_numbers
    "counting" counting
    "from-one-sequence-to-another" from_one_sequence_to_another
    "heads-that-specialise" heads_that_specialise
    "learning" learning
    "many-machines" many_machines
    "masks" masks
    "one-head" one_head
    "one-look-is-not-enough" one_look_is_not_enough
    "one-matrix-many-heads" one_matrix_many_heads
    "scores-softmax-scale" scores_softmax_scale
    "sensors" sensors
    "the-backward-pass" the_backward_pass
    "the-block" the_block
    "the-ladder" the_ladder
    "trained-heads" trained_heads
    "two-layers" two_layers
    "variants" variants
};

/// All topics, by the alphabet.
///
/// # Errors
/// A file that is not written as it should be; a test finds it first.
pub fn topics() -> Result<Vec<Topic>> {
    let topic = |(name, file, text, runs): File| {
        Ok(Topic { name, questions: sheet::parse(file, text, runs)? })
    };
    FILES.into_iter().map(topic).collect()
}
