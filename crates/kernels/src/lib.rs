//! The layer once more, faster one idea at a time.

mod block_mask;
mod exp2;
mod inputs;
mod instructions;
mod ladder;
pub mod machine;
mod online_softmax;
mod packed;
mod tile;
mod wide;

pub use inputs::{Inputs, Lengths};
pub use instructions::Instructions;
pub use ladder::{OneProduct, Packed, Plain, Rung, Threads, Tiles, VectorExp, ladder};
pub use online_softmax::OnlineSoftmax;
pub use packed::backward::{Gradients, InputGradients, Pass};
