//! The vocabulary of multi-head attention, shared by every stage of the workspace.
//!
//! One head of attention replaces each token by a weighted average of values:
//!
//! ```text
//! Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V
//! ```
//!
//! A layer runs `h` such heads on projections of its input and mixes their outputs:
//!
//! ```text
//! head_i          = Attention(query W_i^Q, key W_i^K, value W_i^V)
//! MultiHead(…)    = Concat(head_1, …, head_h) W^O
//! ```
//!
//! This crate holds the words of those formulas and none of their assembly: matrices
//! ([`Matrix`]), sizes ([`Dims`]), who may attend to whom ([`Mask`]), the softmax
//! ([`softmax_rows`], and in blocks of keys [`OnlineSoftmax`]), projections ([`Linear`]), the
//! parameters of a layer head by head ([`LayerParameters`]) and side by side ([`PackedParameters`]), sequences ([`Batch`]) and
//! parts of one ([`Positions`]), what comes out ([`Attended`]) and what goes back
//! ([`Gradients`]), the ledgers ([`ParameterCount`], [`MultiplyAdds`], [`ShapeTrace`]) and
//! the trait that every stage meets ([`MultiHeadAttention`]). How a layer is computed is the
//! business of `single-head`, `per-head` and `fused-heads`, which know this crate and can
//! therefore be compared.
//!
//! Where Q, K and V are ready there is nothing to assemble but the first formula:
//! [`attend_head`] and [`attend_heads`] compute it, with any scale and mask.
//!
//! The one decision: **rows are tokens**. An input is `[n_tokens, d_model]`, a weight is
//! stored `[in, out]` as in the paper, and a projection is `x · W + b`. Files that store
//! `[out, in]` are transposed once, where they are loaded.
//!
//! Left out: dropout, residual connections, layer normalisation, positions. They surround
//! attention in a Transformer and are not part of it; `block` holds them.

mod attend;
mod batch;
mod cost;
mod count;
mod dims;
mod error;
mod gradients;
mod inputs;
mod layer;
mod linear;
mod mask;
mod matrix;
mod median;
mod online_softmax;
mod parameters;
mod positions;
mod softmax;
mod table;
mod trace;

pub use attend::{FormulaPass, attend_head, attend_heads, check_heads};
pub use batch::{Batch, BatchAttended};
pub use cost::{Cost, MultiplyAdds};
pub use count::{Count, ParameterCount};
pub use dims::Dims;
pub use error::{Error, Result, Shape};
pub use gradients::{Gradients, InputGradients};
pub use inputs::{check_batch, check_inputs};
pub use layer::{Attended, MultiHeadAttention};
pub use linear::Linear;
pub use mask::Mask;
pub use matrix::{Matrix, Real, RowVector, View, max_abs_diff, random_matrix};
pub use median::median;
pub use online_softmax::OnlineSoftmax;
pub use parameters::{HeadParameters, LayerParameters, PackedParameters};
pub use positions::Positions;
pub use softmax::{softmax_rows, weighted_values};
pub use table::{thousands, write_table};
pub use trace::{ShapeStep, ShapeTrace};

/// The library of matrices: [`Matrix`], [`View`] and [`RowVector`] are its types.
pub use nalgebra;

/// The generator of random numbers used throughout: small, fast, and the same numbers
/// for the same seed on every platform (`rand::rngs::StdRng` does not promise that).
///
/// ```
/// use attention::{random_matrix, Matrix, Rng, SeedableRng};
///
/// let x: Matrix = random_matrix(4, 3, 1.0, &mut Rng::seed_from_u64(7));
/// let y: Matrix = random_matrix(4, 3, 1.0, &mut Rng::seed_from_u64(7));
/// assert_eq!(x, y);
/// ```
pub use rand::rngs::Xoshiro256PlusPlus as Rng;

pub use rand::SeedableRng;
