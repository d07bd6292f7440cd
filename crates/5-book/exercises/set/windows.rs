//! All windows of some engines, and how long the engine keeps running after each.
//!
//! A file has the readings of several engines, one engine after another, with one row
//! per cycle. Engine e has `lengths[e]` rows, and each engine ran until it failed, so
//! nothing remains after its last row. A **window** is `n_steps` consecutive rows of
//! one engine.
//!
//! Return every window, engine by engine, and for each engine from the earliest to the
//! latest:
//! - `engine`, a `usize`: the index of its engine in `lengths`, counted from 0;
//! - `first`, a `usize`: its first row, counted from 0 over the whole file;
//! - `remaining`, a `usize`: how many rows of its engine come after its last row, or
//!   125 if there are more than that.
//!
//! What must be true of the answer:
//! - neighbouring windows of an engine share all but one of their rows;
//! - an engine with fewer than `n_steps` rows has no window, and one with exactly that
//!   many has one;
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
