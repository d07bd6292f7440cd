//! The topics: for each its file of questions, and their runs.

mod a_gpt_from_nothing;
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

use anyhow::{Context, Result};
use attention::*;
use lessons::trained;

use crate::facts::{Facts, facts};
use crate::parts::*;
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

/// Its name, its file, what that says, and a run for each id with `_` in place of `-`.
type File = (&'static str, &'static str, &'static str, &'static [(&'static str, Run)]);

macro_rules! files {
    ($($name:literal $topic:ident: $($run:ident)*;)*) => {
        [$(($name, concat!("set/", $name, ".md"),
            include_str!(concat!("../set/", $name, ".md")),
            &[$((stringify!($run), $topic::$run)),*])),*]
    };
}

const FILES: [File; 21] = files! {
    "a-lens-per-head" a_lens_per_head:
        lens_shape scores_shape concat_shape before_mixing after_mixing;
    "a-model-that-writes" a_model_that_writes: temperature perplexity;
    "bad-numbers" bad_numbers: empty_row small_fill bare_softmax nan_causal;
    "counting" counting:
        parameters more_heads biases w_o_512 undivided twice_the_length maps;
    "from-one-sequence-to-another" from_one_sequence_to_another: cross_open two_caches;
    "heads-that-specialise" heads_that_specialise:
        blend_forgets sum_of_removals mean_for_a_head;
    "learning" learning: descent_step adam_step cross_entropy logit_gradient;
    "many-machines" many_machines: bias_on_every_rank all_reduce_in_a_ring;
    "masks" masks: causal_open causal_aligned cross_shape;
    "one-head" one_head: row_sums order last_digit;
    "one-look-is-not-enough" one_look_is_not_enough: blend flew_head_11;
    "one-matrix-many-heads" one_matrix_many_heads: packed_shape view_without_transpose;
    "scores-softmax-scale" scores_softmax_scale:
        softmax_equal softmax_huge spread divisor;
    "sensors" sensors: windows_of_an_engine on_the_trainings_scale;
    "the-backward-pass" the_backward_pass:
        gradient_shape softmax_backward key_bias forgotten_scale;
    "the-block" the_block: normed_entry feed_forward_parameters;
    "the-ladder" the_ladder: online_correction online_average online_state causal_tiles;
    "trained-heads" trained_heads: leaning file_shape turned;
    "two-layers" two_layers: induction_place through_two_heads;
    "a-gpt-from-nothing" a_gpt_from_nothing: guesses_of_a_batch kept_by_top_p;
    "variants" variants: cached_numbers group_of_a_head window_with_sinks;
};

/// All topics, by the alphabet.
///
/// # Errors
/// A file that is not written as it should be; a test finds it first.
pub fn topics() -> catalogue::Result<Vec<Topic>> {
    let topic = |(name, file, text, runs): File| {
        Ok(Topic { name, questions: sheet::parse(file, text, runs)? })
    };
    FILES.into_iter().map(topic).collect()
}
