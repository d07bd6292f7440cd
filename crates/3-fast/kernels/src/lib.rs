//! The layer once more, in f32, faster one idea at a time.
//!
//! ```text
//! head_i     = softmax(query W_i^Q (key W_i^K)ᵀ / √d_k) · value W_i^V
//! MultiHead  = Concat(head_1, …, head_h) W^O
//! ```
//!
//! The formula is that of every other crate; what changes is the order in which its
//! multiply-adds are done, and what stays near the arithmetic meanwhile. [`ladder`] gives
//! six [`Rung`]s, each in a file of its own that says what its idea buys and where it is
//! slower: [`Plain`], [`OneProduct`], [`Tiles`] with an [`OnlineSoftmax`], [`VectorExp`],
//! [`Threads`] and [`Packed`]. All give the same numbers on every size, mask and kind of
//! attention: within 10⁻⁵ of f64 where products of queries and keys come to no more than a
//! few hundred, whatever a mask adds. An f32 has 24 binary digits: a score of 10⁴ has none
//! left below 10⁻³, in any order of computing. There the last rung is no farther from f64
//! than the readable stages in f32. It goes back too ([`Packed::pass`]), without having
//! kept a map, and makes maps on request ([`Packed::maps`]). [`PackedStage`] is the
//! last rung as one more stage, for a whole model.
//!
//! The one decision: **everything that is read often is packed once, in the order in which
//! it is read.** The last rung has one product, a tile of 48 × 8 sums in registers, and all
//! its data lie in panels of 48 tokens: inputs, queries, keys, values, scores and outputs are
//! written by one step as the next one reads them. Tile and panels, the vectors that are
//! chosen when the program runs and the threads that share out whole pieces of work are a
//! crate of their own, `tiles`, since a cache needs them too.
//!
//! Left out: other precisions than f32; dropout; keys that are kept or come in parts, which
//! `cached` has; knowledge of the crates it is compared with.
//!
//! [`OnlineSoftmax`]: attention::OnlineSoftmax

#![allow(
    clippy::needless_range_loop,
    reason = "a tile's loops run over two or three arrays of registers by the same index"
)]

mod inputs;
mod ladder;
mod packed;
mod rung;
mod stage;

pub use crate::{
    inputs::Inputs,
    ladder::{OneProduct, Plain, Threads, Tiles, VectorExp, ladder},
    packed::{backward::PackedPass, layer::Packed},
    rung::Rung,
    stage::PackedStage,
};
pub use attention::{Gradients, InputGradients};
