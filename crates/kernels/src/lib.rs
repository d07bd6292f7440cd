//! The layer once more, faster one idea at a time.

mod inputs;
mod ladder;
mod wide;

pub use inputs::{Inputs, Lengths};
pub use ladder::{Plain, Rung, ladder};
