//! The numbers that chapters quote, each computed here and held by a snapshot.

mod a_gpt_from_nothing;
mod a_lens_per_head;
mod a_model_that_writes;
mod bad_numbers;
/// Every work that the text names has its place in the bibliography.
mod bibliography;
mod counting;
mod for_teachers;
mod from_one_sequence_to_another;
mod glossary;
mod heads_that_specialise;
/// Where the crates are.
#[path = "../house/house.rs"]
mod house;
mod learning;
mod many_machines;
mod masks;
/// What the 72 heads of a whole trained model do, and what it loses without them.
mod minilm;
mod one_head;
mod one_look_is_not_enough;
mod one_matrix_many_heads;
mod places;
mod questions;
/// How numbers are said to the chapters.
mod quote;
mod readme;
mod scores_softmax_scale;
mod sensors;
/// What the sources say has its place: each chapter and test that the book names for it.
mod sources;
mod start_here;
mod test_your_tests;
mod text;
mod the_backward_pass;
mod the_block;
mod the_ladder;
mod trained_heads;
mod two_layers;
mod variants;
