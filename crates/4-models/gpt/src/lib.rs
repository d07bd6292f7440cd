//! A GPT from nothing, trained on first names, and the same model again with what the book
//! built, each time with one thing changed.
//!
//! ```text
//! scalars   numbers that remember how they were computed: all that it takes, in one file
//! loops     the tape is gone: every gradient by hand
//! matrices  a name at once; each head with matrices of its own
//! fused     the book's block: heads are columns of one matrix
//! batch     all names of a step at once
//! ```
//!
//! [`RUNGS`] are functions of one type: from a list of parameters and some names to the loss
//! and the gradient of each parameter, in the order of [`PARTS`]. Tests hold that all give the
//! same, for fifty steps in a row, and then write the same names. **Everything behind the first
//! is efficiency.**
//!
//! ```
//! use attention::{Rng, SeedableRng};
//! use gpt::{NAMES, RUNGS, scalars};
//!
//! let rng = &mut Rng::seed_from_u64(1);
//! let names: Vec<Vec<usize>> = NAMES.lines().map(scalars::ids).collect();
//! let parameters = scalars::parameters(rng);
//! let [(_, slow), .., (_, fast)] = RUNGS;
//! let (loss, _) = slow(&parameters, &names[..8])?;
//! assert!((loss - fast(&parameters, &names[..8])?.0).abs() < 1e-12);
//! # Ok::<(), attention::Error>(())
//! ```

mod blocks;
mod controls;
pub mod gpt2;
mod loops;
mod matrices;
mod parts;
pub mod scalars;
#[cfg(test)]
mod tests;
mod train;

use attention::Result;

pub use controls::{Counts, Split};
pub use parts::{PARTS, Part};
pub use train::train;

/// First names, one on each line: `data/README.md` says where they are from.
pub const NAMES: &str = include_str!("../data/names.txt");

/// One way to compute the loss of some names, and the gradient of each parameter.
pub type Gradients = fn(&[f64], &[Vec<usize>]) -> Result<(f64, Vec<f64>)>;

/// The same model, each time with one thing changed.
pub const RUNGS: [(&str, Gradients); 5] = [
    ("scalars", |parameters, names| Ok(scalars::gradients(parameters, names))),
    ("loops", |parameters, names| Ok(loops::gradients(parameters, names))),
    ("matrices", matrices::gradients),
    ("fused", |parameters, names| blocks::gradients(parameters, names, 1)),
    ("batch", |parameters, names| blocks::gradients(parameters, names, names.len())),
];
