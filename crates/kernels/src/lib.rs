//! The layer once more, faster one idea at a time.

mod exp2;
mod inputs;
mod instructions;
mod ladder;
pub mod machine;
mod wide;

pub use inputs::{Inputs, Lengths};
pub use instructions::Instructions;
pub use ladder::{Plain, Rung, ladder};
