//! The layer once more, faster one idea at a time.

mod block_mask;
mod exp2;
mod inputs;
mod instructions;
mod ladder;
pub mod machine;
mod packed;
mod tile;
mod wide;

pub use inputs::{Inputs, Lengths};
pub use instructions::Instructions;
pub use ladder::{Packed, Plain, Rung, ladder};
pub use packed::backward::{Gradients, InputGradients, Pass};
