//! Multi-head attention as it is defined: `h` heads, each with its own W_i^Q, W_i^K and
//! W_i^V, set side by side and mixed by W^O.
//!
//! ```text
//! head_i    = Attention(query W_i^Q, key W_i^K, value W_i^V)
//! MultiHead = Concat(head_1, …, head_h) W^O + b^O
//! ```
//!
//! Every head reads the whole token through a lens of its own, and not a slice of it.
//!
//! Three ways to compute it, which agree:
//! - [`NaiveAttention`]: loops all the way down, the definition that the others are held
//!   against;
//! - [`PerHeadAttention`]: heads in matrices, concatenated, mixed;
//! - [`SumOfHeadsAttention`]: the other reading of the same formula, `Σ_i head_i W_i^O`, in which
//!   nothing is concatenated and each head writes into the output by itself.
//!
//! The one decision: a head is `single-head`'s function, called `h` times. The formula
//! says so, and it is the only place where one stage calls another.
//!
//! Left out: the single wide projection that makes this fast (`fused-heads`), batches.

mod layer;
mod naive;
mod sum;

pub use layer::{PerHeadAttention, concat};
pub use naive::NaiveAttention;
pub use sum::SumOfHeadsAttention;
