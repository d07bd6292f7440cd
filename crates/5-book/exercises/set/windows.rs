//! All windows of some engines, and how long each engine still runs behind them.
//!
//! A file has the readings of several engines, one engine after the other, a row for each
//! cycle. Engine e has `lengths[e]` rows, and each engine ran until it failed: behind its
//! last row nothing remains. A **window** is `n_steps` rows in a row, all of one engine.
//!
//! Return every window there is, engine by engine, and within an engine from the earliest
//! to the latest:
//! - `engine`, a `usize`: its engine, as it stands in `lengths`, counted from 0;
//! - `first`, a `usize`: its first row, counted from 0 over the whole file;
//! - `remaining`, a `usize`: how many rows of its engine come after its last row, and 125
//!   if there are more than that.
//!
//! What must be true of the answer:
//! - neighbouring windows of an engine share all rows but one at either end;
//! - an engine with fewer rows than `n_steps` has no window, and one with just as many
//!   has one;
//! - the last window of every engine ends where that engine ends, with 0 remaining.

use std::process::ExitCode;

use exercises::windows::{self, Window};

/// The windows, in the order of the file. `n_steps` is at least 1.
// ANCHOR: answer
pub fn windows(lengths: &[usize], n_steps: usize) -> Vec<Window> {
    // YOURS: engine by engine, and within an engine row by row.
    let mut all = Vec::new();
    let mut before = 0; // rows of the engines before this one
    for (engine, &length) in lengths.iter().enumerate() {
        for end in n_steps..=length {
            let (first, remaining) = (before + end - n_steps, (length - end).min(125));
            all.push(Window { engine, first, remaining });
        }
        before += length;
    }
    all
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    windows::check(windows)
}
