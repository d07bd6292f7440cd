//! What the answers are given, by chapter: for each exercise the type of its function, its
//! inputs, and how an entry of its answer is called.
//!
//! An input is named [arrays](crate::Arrays), made of sizes and a seed. Sizes that may differ
//! do, in all cases but those that are marked as square; biases are never 0; and where it
//! matters there are huge scores, empty rows and NaN.

pub mod place;
pub mod random;

mod a_gpt_from_nothing;
mod a_lens_per_head;
mod a_model_that_writes;
mod bad_numbers;
mod counting;
mod from_one_sequence_to_another;
mod heads_that_specialise;
mod learning;
mod many_machines;
#[path = "inputs/masks.rs"]
mod masks_chapter; // an exercise in it has the chapter's name
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

pub use a_gpt_from_nothing::*;
pub use a_lens_per_head::*;
pub use a_model_that_writes::*;
pub use bad_numbers::*;
pub use counting::*;
pub use from_one_sequence_to_another::*;
pub use heads_that_specialise::*;
pub use learning::*;
pub use many_machines::*;
pub use masks_chapter::*;
pub use one_head::*;
pub use one_look_is_not_enough::*;
pub use one_matrix_many_heads::*;
pub use scores_softmax_scale::*;
pub use sensors::*;
pub use the_backward_pass::*;
pub use the_block::*;
pub use the_ladder::*;
pub use trained_heads::*;
pub use two_layers::*;
pub use variants::*;

use crate::AnyExercise;

macro_rules! exercises {
    ($($name:ident)*) => {
        /// Every exercise that compares numbers, without its types.
        pub static ALL: &[&dyn AnyExercise] = &[
            $(&$name::EXERCISE,)*
            #[cfg(feature = "trained")]
            &whole_layer::EXERCISE,
        ];
    };
}

exercises! {
    ablation batches beam both_ways choose columns_as_heads concatenation
    copying_share count_multiply_adds count_parameters cross_attention cross_cache
    cross_entropy cross_heads decoder_masks dropout gated_feed_forward head_backward
    head_in_loops head_in_matrices induction latent_keys layer_norm logit_paths
    masks mixing next_token_loss nothing_to_attend online_softmax packing
    padded_loss part_of_sum pieces positions projection_backward ring_mask rotary
    scale scaled scores shared_keys softmax softmax_backward stretched_rotary
    sublayer subspaces sum_over_heads tied_weights top_p transposed_weights warm_up
    weighted_average window_cache windows
}

/// The exercise of this name, without its types; none where no numbers are compared.
pub fn any(name: &str) -> Option<&'static dyn AnyExercise> {
    ALL.iter().copied().find(|exercise| exercise.name() == name)
}
