//! What today's models change in the formula of 2017, one line at a time.
//!
//! ```text
//! q, k, v = x W^Q, x W^K, x W^V     fewer heads of k and v      Groups
//!                                   queries and keys of size 1  QkNorm
//!                                   rotated by their positions  Rotary
//!                                   slower, for longer texts    Rotary::yarn, …
//!                                   made of one latent row      LatentAttention
//!                                   kept from step to step      Cache
//! scores  = q kᵀ / √d_k             another scale               Changes::scale
//!                                   bounded                     SoftCap
//!                                   less for what is far        Alibi
//!                                   a number per distance       RelativeBias
//! masked  = mask(scores)            only what is near           Window
//! attn    = softmax(masked)         a share for nobody          Sink
//! out     = attn v
//! ```
//!
//! Each file is one change: which line it touches, why, what it buys and what it costs.
//! The one decision: **a change is a value**. [`Changes`] holds at most one of each kind,
//! they compose, and with none of them [`VariantAttention`] computes what the fused layer
//! computes, to the last bit.
//!
//! Where something stands is a number of its own ([`Positions`]): a cache that forgets
//! still knows how far away its keys are.
//!
//! All is on the readable side. [`VariantPass`] goes backward through shared keys, rotary
//! positions, and whatever changes only which keys are seen. Left out: the backward pass of
//! the rest, what only makes the same formula fast (`kernels`, `cached`), and whole models
//! (`decoders`,
//! `translators`).

mod alibi;
mod attend;
mod backward;
mod cache;
mod changes;
mod cost;
mod groups;
mod latent;
mod layer;
mod positions;
mod qk_norm;
mod relative;
mod rotary;
mod sink;
mod sizes;
mod soft_cap;
mod stretch;
#[cfg(test)]
mod tests;
mod window;

pub use alibi::Alibi;
pub use attend::{VariantHeadPass, attend, attended};
pub use backward::{VariantGradients, VariantPass};
pub use cache::Cache;
pub use changes::Changes;
pub use cost::NextToken;
pub use gradients::Entries;
pub use groups::Groups;
pub use latent::{LatentAttention, LatentSizes, LatentWeights};
pub use layer::VariantAttention;
pub use positions::Positions;
pub use qk_norm::QkNorm;
pub use relative::RelativeBias;
pub use rotary::{Pairing, Rotary};
pub use sink::Sink;
pub use sizes::Sizes;
pub use soft_cap::SoftCap;
pub use stretch::{YARN_ROUNDS, yarn_amplitude, yarn_ends};
pub use window::Window;
