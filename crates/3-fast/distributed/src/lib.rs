//! A layer on many machines: the two identities that make it possible, and what they cost.
//!
//! ```text
//! MultiHead = Σ_i head_i W_i^O + b^O                a layer is a sum over heads
//! softmax over all keys = pieces, merged            a softmax merges over tokens
//! ```
//!
//! The one idea: **so a layer can be computed where its parts are.** Which rank computes what
//! follows from the two lines, and how a part is computed does not change:
//!
//! | apart | a rank has | what is sent |
//! | --- | --- | --- |
//! | heads ([`HeadsApart`]) | all tokens, some heads' W^Q, W^K, W^V and W^O | one all-reduce of the outputs |
//! | tokens ([`OnGrid`]) | all parameters, some tokens | keys and values round a ring, while they are computed with |
//! | both ([`OnGrid`] on a [`Grid`]) | some heads, some tokens | the ring among ranks with the same heads, the sum among those with the same tokens |
//! | a batch ([`BatchApart`]) | all parameters, some sequences | nothing; backward, one all-reduce of the gradients |
//!
//! Ranks are a [`Group`]: here the threads of one process ([`Threads`]), which copy their
//! messages as machines do. The folder `mpi` has the same trait on MPI, in a workspace of
//! its own, since its build needs an MPI that is installed. What each rank computes is an
//! [`Engine`]'s business: [`Plain`] is `fused-heads` and `gradients` in any precision,
//! `Fast` is `kernels` and `cached` in f32. [`Model`] predicts what a split takes from
//! counted multiply-adds and bytes.
//!
//! A split is next to one machine within 10⁻¹² in f64: sums are in another order, and
//! nothing else differs. Heads, tokens and sequences need not be divisible by the ranks.
//!
//! Left out: parameters that are themselves sent about (ZeRO), layers apart (a pipeline),
//! the backward pass of the ring, dropout, messages in a lower precision.

mod batch;
mod engine;
mod error;
mod grid;
mod group;
mod heads;
mod masks;
mod model;
mod parts;
mod piece;
mod threads;

pub use attention::Positions;
pub use batch::BatchApart;
#[cfg(feature = "fast")]
pub use engine::Fast;
pub use engine::{Engine, Plain, ViewMut};
pub use error::{Error, Result};
pub use grid::{Grid, OnGrid};
pub use group::{Group, Tally};
pub use heads::{HeadGradients, HeadsApart, heads_of};
pub use model::{Link, Model, Prediction, Speed, Split};
pub use parts::{Chunks, share};
pub use piece::Piece;
pub use threads::Threads;
