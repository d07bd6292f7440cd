//! Attention on a cache: what a model that writes needs for one new token, in f32.
//!
//! A prompt has as many queries as keys, and each key that has come from memory serves
//! hundreds of them. A new token has one query per head, and each key serves those of one
//! group: three, say, in a model whose nine query heads share three heads of keys and
//! values. Then nothing that a processor could compute takes as long as reading the keys.
//!
//! The one decision: **the layout is chosen for reading.** [`PackedCache`] has the keys of a
//! head one after the other, in panels of 48 as `tiles` has them, as floats or in fewer bits
//! ([`Precision`]); all queries of a group meet
//! a panel while it is there; a long cache is cut into runs of panels, which threads take and
//! whose softmaxes are merged at the end ([`GroupedAttention::one_token`]). The same panels
//! serve a whole prompt ([`GroupedAttention::prompt`]), through the tiles of a layer, and
//! keys are shared by their heads there too, not copied. Maps are never kept; chosen rows of
//! them are there to be looked at ([`GroupedAttention::rows`]).
//!
//! Where keys come in parts and none is kept, [`PartialAttention`] keeps the queries, and what
//! they have made of the parts so far.
//!
//! Weights are the business of [`Product`], which reads them once for up to eight tokens, as
//! floats or in the few bits of a file ([`Quantised`]), and
//! [`gated`] is what stands between two of them in a feed-forward layer.
//!
//! Left out: a layer with its projections and its backward pass, which `kernels` has, and a
//! whole model, which `decoders` has.

#![allow(
    clippy::needless_range_loop,
    reason = "loops run over two or three arrays of registers by the same short index"
)]

mod attend;
mod cache;
mod few;
mod float16;
mod gated;
mod heads;
mod non_finite;
mod panel;
mod panels;
mod partial;
mod product;
mod prompt;
mod quantised;
mod rows;
mod scoring;
#[cfg(test)]
mod tests;
mod tiled;

pub use attend::GroupedAttention;
pub use cache::PackedCache;
pub use gated::{Gate, gated};
pub use heads::GroupedHeads;
pub use panels::Precision;
pub use partial::{PackedKeys, PartialAttention};
pub use product::{Product, ProductMemory};
pub use quantised::{Bits, Quantised, QuantisedRow};
pub use scoring::Scoring;
