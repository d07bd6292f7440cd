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
//! part of the workspace, and [`wide()`] what was kept of another.

mod case;
mod growth;
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

/// The forward passes of the last rung and of the peers on a processor with twice the width:
/// two vectors of 16 numbers multiplied in each cycle, where the reference run's has one.
///
/// # Errors
/// A file that holds no run.
pub fn wide() -> Result<Run> {
    Run::parse(include_str!("../data/wide.json"))
}
