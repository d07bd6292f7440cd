//! A GPT from nothing, trained on first names, and the same model again with what the book
//! built, each time with one thing changed.
//!
//! ```text
//! scalars   numbers that remember how they were computed: all that it takes, in one file
//! loops     the tape is gone: every gradient by hand
//! matrices  a name at once; each head with matrices of its own
//! fused     the book's block: heads are columns of one matrix; any number of blocks
//! batch     all names of a step at once
//! tiles     a name in each lane of a vector, in f32: the products of all fast code
//! ```
//!
//! A [`Rung`] goes from a list of parameters and some names to the loss and the gradient of
//! each parameter, in the order of [`Architecture::parts`]. Tests hold that all give the same,
//! for fifty steps in a row, and then write the same names; the last, which comes with the
//! feature `fast`, to the precision of f32. **Everything behind the first is efficiency.**
//!
//! ```
//! use attention::{Rng, SeedableRng};
//! use gpt::{Architecture, NAMES, RUNGS, scalars};
//!
//! let small = Architecture::SMALL;
//! let parameters = small.parameters(&mut Rng::seed_from_u64(1));
//! let names: Vec<Vec<usize>> = NAMES.lines().map(scalars::ids).collect();
//! let [slow, .., fast] = RUNGS;
//! let (loss, _) = slow.gradients(small, &parameters, &names[..8])?;
//! assert!((loss - fast.gradients(small, &parameters, &names[..8])?.0).abs() < 1e-5);
//! # Ok::<(), attention::Error>(())
//! ```
//!
//! A [`Training`] takes steps with any of them, and a [`Model`] shows what was learned: its
//! attention maps, the letter that comes next, names that it writes, and all of that without a
//! head.

mod architecture;
mod blocks;
mod controls;
pub mod gpt2;
#[cfg(feature = "fast")]
mod in_tiles;
mod loops;
mod matrices;
mod model;
mod rung;
pub mod scalars;
#[cfg(test)]
mod tests;
mod train;

pub use architecture::{Architecture, Gradients, Part};
pub use controls::{ADDED, Split};
pub use model::{Model, Read};
pub use rung::{RUNGS, Rung};
pub use train::{Schedule, Training};

/// First names, one on each line: `data/README.md` says where they are from.
pub const NAMES: &str = include_str!("../data/names.txt");

/// What ten seeds of each model came to, as `examples/names` writes it.
pub const SEEDS: &str = include_str!("../data/seeds.json");

/// How long a step takes on each rung, as `cargo learn bench gpt` writes it.
pub const TIMES: &str = include_str!("../data/rungs.json");
