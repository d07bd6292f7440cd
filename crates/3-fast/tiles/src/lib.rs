//! The core of all fast code: panels of 48 tokens, and the one product that reads them.
//!
//! ```text
//! tile[i, j] = start[i, j] + Σ_p  a[p, i] · b[p, j]      i < 48, j < 8
//! ```
//!
//! Everything that `kernels` and `cached` compute in f32 is made of that tile ([`tile`]) and
//! of a vectorised exponential ([`exp2`]). What goes into a tile lies in panels
//! ([`panels`]), in memory that is aligned and kept ([`memory`]). A step of a computation is
//! cut into pieces that threads take one after the other ([`queue`]); they are rayon's, those
//! of the pool that the caller is in. From these parts two things are put together here,
//! since a layer and a cache both need them: attention of many queries in tiles
//! ([`attend`]), with masks on blocks of scores ([`BlockMask`]), and the product of panels
//! and a weight to the rows of a matrix ([`merge`]). Weights in few bits meet many tokens in 8
//! bits, in a tile of their own ([`bytes`]), and a few in 16 ([`pairs`]).
//!
//! The one decision: **all that is unsafe is here, and none of it shows.** Vectors are read
//! from slices whose length was checked (`tile.rs`), threads get the pieces of one slice
//! (`queue.rs`), the processor is told what will be read (`prefetch.rs`), and bytes are multiplied
//! where it was asked whether it can (`bytes/vnni.rs`, `bytes/neon.rs`). Each is
//! behind a function that is safe whatever it is given: what does not fit panics. No other
//! crate of the workspace has unsafe code.
//!
//! [`Instructions`] are chosen when the program runs; nothing need be compiled for one
//! machine.
//!
//! Left out: layers, caches and their checks of shapes. The callers of these parts have checked
//! what came from outside, and returns the errors.

pub mod attend;
mod block_mask;
pub mod blocks;
pub mod bytes;
pub mod exp2;
mod groups;
mod instructions;
mod lengths;
pub mod memory;
pub mod merge;
mod non_finite;
pub mod pairs;
pub mod panels;
pub mod prefetch;
pub mod queue;
pub mod rounding;
pub mod running;
pub mod tile;

pub use block_mask::BlockMask;
pub use instructions::Instructions;
pub use lengths::Lengths;
