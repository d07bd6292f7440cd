//! The running example of each chapter, once, and the figures that show it.
//!
//! A chapter follows one example through its formulas: some words, their matrices, the
//! numbers that come out. It lives in the module of the chapter's topic here, and all who
//! show it are views of it: the book's figures ([`CHAPTERS`], [`LIVE`], by name in
//! [`gallery`]), the numbers that the book quotes (the snapshots in `tests`), and the
//! notebook. What every lesson is written with is here, too: [`Args`], [`live`], and small
//! readings of numbers and runs.
//!
//! The one decision: **a lesson is arguments in, numbers or a figure out**. No file, no
//! thread and no clock is used here, so that the same code can run in a page. What comes
//! from files (a reader's own benchmark) is handed in, in [`Args`].

pub mod a_gpt_from_nothing;
pub mod a_lens_per_head;
pub mod a_model_that_writes;
mod args;
pub mod asked;
pub mod bad_numbers;
mod charts;
pub mod counting;
pub mod diagrams;
pub mod from_one_sequence_to_another;
pub mod gallery;
pub mod heads_that_specialise;
mod kept;
pub mod learning;
pub mod live;
pub mod many_machines;
pub mod masks;
mod named_rows;
pub mod numbers;
pub mod one_head;
pub mod one_look_is_not_enough;
pub mod one_matrix_many_heads;
mod outlines;
pub mod plain;
pub mod scores_softmax_scale;
pub mod seeds;
pub mod sensors;
pub mod the_backward_pass;
pub mod the_block;
pub mod the_ladder;
pub mod trained;
pub mod trained_heads;
pub mod two_layers;
pub mod variants;

pub use args::{Args, Entry};

/// The figures of each topic, by name.
pub const CHAPTERS: &[&[Entry]] = &[
    diagrams::FIGURES,
    one_look_is_not_enough::FIGURES,
    scores_softmax_scale::FIGURES,
    one_head::FIGURES,
    a_lens_per_head::FIGURES,
    one_matrix_many_heads::FIGURES,
    counting::FIGURES,
    masks::FIGURES,
    bad_numbers::FIGURES,
    the_backward_pass::FIGURES,
    learning::FIGURES,
    heads_that_specialise::FIGURES,
    trained_heads::FIGURES,
    the_ladder::FIGURES,
    the_block::FIGURES,
    two_layers::FIGURES,
    a_gpt_from_nothing::FIGURES,
    from_one_sequence_to_another::FIGURES,
    variants::FIGURES,
    a_model_that_writes::FIGURES,
    sensors::FIGURES,
    many_machines::FIGURES,
    asked::FIGURES,
];

/// The live figures, topic by topic.
pub const LIVE: &[&dyn live::Live] = &[
    &one_look_is_not_enough::other_parts::LIVE,
    &scores_softmax_scale::arrows::LIVE,
    &scores_softmax_scale::scale::LIVE,
    &one_head::words_head::LIVE,
    &a_lens_per_head::line::LIVE,
    &a_lens_per_head::disturbed::LIVE,
    &a_lens_per_head::free::LIVE,
    &one_matrix_many_heads::view::LIVE,
    &one_matrix_many_heads::three_stages::LIVE,
    &counting::ledger::LIVE,
    &masks::painted::LIVE,
    &bad_numbers::how_far::LIVE,
    &the_backward_pass::nudge::LIVE,
    &learning::wrong::LIVE,
    &heads_that_specialise::training_now::LIVE,
    &trained_heads::hunt::LIVE,
    &trained_heads::without::LIVE,
    &the_ladder::online::LIVE,
    &the_ladder::tiles::LIVE,
    &the_block::places::LIVE,
    &the_block::deep::LIVE,
    &two_layers::together::LIVE,
    &a_gpt_from_nothing::training_now::LIVE,
    &from_one_sequence_to_another::typed::LIVE,
    &variants::rotated::LIVE,
    &variants::window_and_cache::LIVE,
    &a_model_that_writes::next::LIVE,
    &a_model_that_writes::patterns::LIVE,
    &sensors::engine::LIVE,
    &sensors::reach::LIVE,
    &sensors::heads::LIVE,
    &many_machines::ring::LIVE,
    &many_machines::explore::LIVE,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_drawn() {
        let only = |name: &str| {
            if name == "circuits" { vec![("product", "qk")] } else { vec![] }
        };
        let is_blank = |(name, draw): &Entry| {
            let figure = draw(&only(name).into_iter().collect()).unwrap();
            figure.sketch().is_empty()
        };
        let blank: Vec<Entry> = CHAPTERS.concat().into_iter().filter(is_blank).collect();
        let blank: Vec<&str> = blank.iter().map(|(name, _)| *name).collect();
        assert!(blank.is_empty(), "{blank:?}");
    }
}
