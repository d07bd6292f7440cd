//! The layer once more, faster one idea at a time.

// Used by the rungs that work in blocks.
#[allow(dead_code)]
mod block_mask;
mod inputs;
mod ladder;
mod wide;

pub use inputs::{Inputs, Lengths};
pub use ladder::{Plain, Rung, ladder};
