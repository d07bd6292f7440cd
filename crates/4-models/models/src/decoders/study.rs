//! What the heads of a decoder do with a text, and what the model loses without them.
//!
//! The loss of a text is what a model is trained on, so every ablation here is measured in
//! it: [`Decoder::losses`](crate::decoders::Decoder::losses). `examples/study` asks a real model, and
//! [`Findings::smollm2`] is what it said.

mod ablated;
mod controls;
mod effect;
mod findings;
pub(crate) mod losses;
mod merged;
mod patched;
mod patching;
mod patterns;
mod repeated;

pub use ablated::ablated_layer;
pub use ablation::{Draws, HeadOfLayer, others_of_same_layers};
pub use controls::{shuffled_within_layers, window_with_others};
pub use effect::Effect;
pub use findings::{
    Ablation, Composed, Fewer, Findings, HeadShares, MergedHeads, Next, OnePath, Order,
    Way, Windowed, Word,
};
pub use merged::{Merge, merged};
pub use patched::Input;
pub use patching::Patching;
pub use patterns::Patterns;
pub use repeated::{COPIES, PERIOD, repeated};

/// Prose of this book, which no model has read.
pub const PROSE: &str = include_str!("../../data/prose.txt");

/// What was measured on SmolLM2-135M-Instruct; `cargo run --release -p models --features
/// text --example study` measures it again.
const SMOLLM2: &str = include_str!("../../data/smollm2.json");
