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
//! [`Threads`] and [`Packed`]. All give the same numbers, within 10⁻⁵ of f64, on every
//! size, mask and kind of attention. The last goes back too ([`Packed::pass`]), without
//! having kept a map, and makes maps on request ([`Packed::maps`]).
//!
//! The one decision: **everything that is read often is packed once, in the order in which
//! it is read.** The last rung has one product, a tile of 48 × 8 sums in registers
//! (`tile.rs`), and all its data lie in panels of 48 tokens: inputs, queries, keys, values,
//! scores and outputs are written by one step as the next one reads them.
//!
//! [`Instructions`] are chosen when the program runs; nothing need be compiled for one
//! machine. Threads are rayon's, those of the pool that the caller is in, and share out
//! whole pieces of work, never a product. [`machine`] measures what the processor could do
//! at best.
//!
//! Left out: other precisions than f32; dropout; knowledge of the crates it is compared
//! with. `unsafe` stands in `tile.rs`, where vectors are read from slices whose length was
//! checked, in `packed/units.rs`, where threads get the pieces of one slice, and in
//! `prefetch.rs`, where the processor is told what will be read.

mod block_mask;
mod exp2;
mod inputs;
mod instructions;
mod ladder;
pub mod machine;
mod online_softmax;
mod packed;
mod prefetch;
mod rung;
mod tile;

pub use attention::{Gradients, InputGradients};
pub use inputs::{Inputs, Lengths};
pub use instructions::Instructions;
pub use ladder::{OneProduct, Plain, Threads, Tiles, VectorExp, ladder};
pub use online_softmax::OnlineSoftmax;
pub use packed::backward::Pass;
pub use packed::layer::Packed;
pub use rung::Rung;
