//! The scripts, style sheets and licences that pages with figures load.
//!
//! ```text
//! figures/        plotly.js, and what draws every figure of a page with it
//! live/           controls; the worker that runs the crates' module
//! explorer/       all heads of a text, one of them large
//! own-sentence/   a reader's own model: files in, maps out
//! wrong-layer/    a reader's own layer: a file in, the mistake out
//! ```
//!
//! Texts alone: what a page is made of is for `pages` to say, and what is drawn for the
//! crates.

mod asset;
pub mod explorer;
pub mod figures;
pub mod live;
pub mod own_sentence;
pub mod wrong_layer;

pub use asset::{Asset, address, versioned};

#[cfg(test)]
mod tests {
    use super::figures;

    #[test]
    fn what_every_figure_needs_is_small_enough_for_a_page() {
        let bytes: usize = figures::PLOTLY
            .iter()
            .chain(&figures::LOADED)
            .map(|(_, text)| text.len())
            .sum();
        assert!(bytes < 1_500_000, "{bytes} bytes before packing");
    }
}
