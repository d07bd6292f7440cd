//! What a whole prompt works in.

use crate::packed::memory::{Aligned, Scratch};

/// What the tiles work in, kept between calls.
#[derive(Debug, Default)]
pub(super) struct Tiles {
    /// Queries and then outputs, `[group][head][rows of a head][48]`.
    pub(super) heads: Aligned,
    pub(super) normalisers: Aligned,
    pub(super) scratches: Vec<Scratch>,
}
