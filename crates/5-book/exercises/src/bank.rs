//! The bank: an exercise a file, with its inputs, its reference and its mistakes.
//!
//! Every file reads in the same order: what is asked and what the reference is, the
//! inputs, then the mistakes, each a function with its sentence.

pub mod ablation;
pub mod batches;
pub mod both_ways;
pub mod choose;
pub mod columns_as_heads;
pub mod concatenation;
pub mod copying_share;
pub mod count_multiply_adds;
pub mod count_parameters;
pub mod cross_attention;
pub mod cross_cache;
pub mod cross_entropy;
pub mod cross_heads;
pub mod decoder_masks;
pub mod gated_feed_forward;
pub mod head_backward;
pub mod head_in_loops;
pub mod head_in_matrices;
pub mod induction;
pub mod latent_keys;
pub mod layer_norm;
pub mod logit_paths;
pub mod masks;
pub mod mixing;
pub mod next_token_loss;
pub mod nothing_to_attend;
pub mod online_softmax;
pub mod packing;
pub mod part_of_sum;
pub mod pieces;
pub mod positions;
pub mod projection_backward;
pub mod ring_mask;
pub mod rotary;
pub mod scale;
pub mod scaled;
pub mod scores;
pub mod shared_keys;
pub mod softmax;
pub mod softmax_backward;
pub mod stretched_rotary;
pub mod sublayer;
pub mod subspaces;
pub mod sum_over_heads;
pub mod transposed_weights;
pub mod weighted_average;
pub mod whole_layer;
pub mod window_cache;
pub mod windows;
pub mod write_a_test;

mod directions;
mod engines;
mod exponentials;
mod heads;
mod inputs;
mod places;
mod readings;
#[cfg(test)]
mod slopes;
