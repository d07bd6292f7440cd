//! Exercises that name the misconception.
//!
//! Nearly every mistake that people make with attention has the right shape and gives
//! plausible numbers. "Wrong" is then no help: a check has to say **what** was computed
//! instead. So this crate holds, beside the right answer to each exercise, the wrong
//! ones: [`bank`] has a file an exercise, and in it every mistake is a small function
//! with one sentence on what it does and one on why it looks right. An answer that
//! differs from the reference is compared with all of them on the same input.
//!
//! The one decision: **an exercise is a function**, and a check calls it. It needs no
//! test harness, so that rustlings, `cargo learn check` and an editor's run button all
//! say the same words. [`Exercise::diagnose`] finds the [`Verdict`], and nothing else
//! decides.
//!
//! Beside this library lie one answer to each exercise, `solutions/`, its hint, `hints/`,
//! and the file that a reader works in, `exercises/`, which git ignores. What a reader
//! starts from is the solution with the answer taken out, so the two cannot drift apart;
//! `answers/` has wrong answers that people hand in, each with the verdict that it should get;
//! `info.toml`, which others read, is written from the catalogue by a test.

#![warn(missing_docs, unused_imports, unused_variables)]

pub mod bank;

mod answer;
mod catalogue;
mod compare;
mod diagnose;
mod exercise;
mod faults;
mod message;
mod outcome;
mod pattern;
mod section;
mod verdict;

#[cfg(test)]
mod nalgebra_calls;
#[cfg(test)]
mod tests;

// A solution that a test includes says `use exercises::…`, as it does on its own.
#[cfg(test)]
extern crate self as exercises;

pub use answer::{Answer, Place};
pub use catalogue::{Entry, all, find};
pub use compare::Difference;
pub use exercise::{Case, Exercise, Mistake};
pub use pattern::Pattern;
pub use section::Section;
pub use verdict::Verdict;

// What answers are written with, so that a reader needs one `use`.
pub use attention::{
    Attended, Dims, HeadParameters, LayerParameters, Linear, Mask, Matrix, max_abs_diff,
    softmax_rows, weighted_values,
};
pub use gradients::softmax_rows_backward;
