//! What a run of the benchmark found, as it is kept in a file, and what is timed in it.
//!
//! ```text
//! Case, Pass                 what is timed: a size of the layer; forward, backward too, or
//!                            one bare product
//! Run ─ Machine              where it was timed
//!     ├ CaseReport ─ Row     one case, and each implementation that gave the right answer
//!     └ Point                time and memory at one length
//! ```
//!
//! The one decision: **a record is data**. `bench` writes one and `lessons` draws it, so
//! that a figure needs no clock, no thread and no file. [`reference()`] is the run that is
//! part of the workspace, and [`wide()`] and [`products()`] what was kept of two others.

mod case;
mod growth;
#[cfg(feature = "machine")]
pub mod machine;
mod report;

use anyhow::Result;

pub use case::{CASES, Case, Pass};
pub use growth::{LONG, growers, slope, slopes};
pub use report::{CaseReport, Machine, Point, Row, Run, compare};

/// The run that is part of the workspace.
///
/// # Errors
/// A file that holds no run.
pub fn reference() -> Result<Run> {
    Run::parse(include_str!("../data/bench.json"))
}

/// The last rung and the peers on a processor with twice the width: two vectors of 16 numbers
/// multiplied in each cycle, where the reference run's has one. Those that keep n × n matrices
/// of more than 200 MiB sat out (`--memory 0.2`).
///
/// # Errors
/// A file that holds no run.
pub fn wide() -> Result<Run> {
    Run::parse(include_str!("../data/wide.json"))
}

/// The bare product of a projection, of ours and of the peers: `--product --peers --rounds
/// 120` of the case `4k`, on the kind of processor that the reference run has, with other
/// work on it. So 135 of 240 rounds do not count, and the best of the others says most.
///
/// # Errors
/// A file that holds no run.
pub fn products() -> Result<Run> {
    Run::parse(include_str!("../data/products.json"))
}
