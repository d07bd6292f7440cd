//! Multi-head attention as it is computed: one W^Q, one W^K, one W^V for all heads, and
//! the heads are views of the result.
//!
//! ```text
//! Q = query W^Q          W^Q = [W_1^Q | … | W_h^Q]
//! Q_i = columns i·d_k .. (i + 1)·d_k of Q = query W_i^Q
//! ```
//!
//! The columns of a product depend on the columns of its right factor alone. So `h` narrow
//! projections side by side are one wide projection, number for number:
//! [`LayerParameters::pack`] puts the heads' matrices together,
//! [`PackedParameters::unpack`] takes them apart, and neither computes anything.
//!
//! [`LayerParameters::pack`]: attention::LayerParameters::pack
//! [`PackedParameters::unpack`]: attention::PackedParameters::unpack
//!
//! The one decision: **nalgebra stores columns one after the other**, so head i is a
//! contiguous block, `q.columns(i * d_k, d_k)`, and the "reshape" costs nothing. Libraries
//! that store rows one after the other (PyTorch, NumPy) view the row of `h · d_k` numbers
//! as `(h, d_k)`, transpose to bring the head to the front, and copy
//! (`contiguous`) before they merge. A view without the transpose has the right shape and
//! mixes tokens with heads.
//!
//! [`FusedAttention`] is the layer, for one sequence or a [`Batch`](attention::Batch) of
//! sequences of equal length, with one product a projection for the whole batch.
//! [`FusedAttention::pass`] keeps every matrix that is computed on the way.
//!
//! Left out: knowledge of `per-head`, with which it is compared; threads and tiles.

mod layer;
mod pass;
mod trace;

pub use layer::FusedAttention;
pub use pass::FusedPass;
