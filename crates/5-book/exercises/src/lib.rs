//! What an answer to an exercise is checked with.
//!
//! Nearly every mistake that people make with attention has the right shape and gives
//! plausible numbers. "Wrong" is then no help: a check has to say **what** was computed
//! instead. So the numbers of every right answer and of every known mistake are kept, on
//! inputs that tell them apart, and an answer's own numbers are looked up among them.
//!
//! ```text
//! set/scale.rs, set/scale.md ─▶ compiled, once ─▶ numbers/scale.bin
//!                                                          │
//! inputs ─▶ a reader's function ─▶ its numbers ─▶ verdict ◀┘
//! ```
//!
//! The one decision: **an answer is compiled alone.** This crate holds no solution, no
//! reference and no mistake: only the [`inputs`], which are random numbers by a seed, and the
//! way to look numbers up. What mistakes are called and what is said of each stands in the
//! sheets that [`catalogue`] reads, at the time of the check.
//!
//! An exercise is a function, and a check calls it. It needs no test harness, so that
//! rustlings, `cargo learn check` and an editor's run button all say the same words.
//! [`diagnose`] finds the [`Verdict`], and nothing else decides.

pub mod inputs;

mod answer;
mod array;
mod compare;
mod defence;
mod diagnose;
mod ending;
mod erased;
mod exercise;
mod kept;
mod message;
#[cfg(test)]
mod nalgebra_calls;
mod numbers;
mod outcome;
mod pattern;
mod precision;
mod report;
#[cfg(test)]
mod tests;
mod untyped;
mod verdict;

pub use answer::{Answer, Place};
pub use array::{Array, Arrays, Changeable, Kind};
pub use compare::{Difference, same_answer, same_shapes, thinned};
pub use defence::Question;
pub use diagnose::diagnose;
pub use ending::{Ending, judged_on_line};
pub use erased::{AnyExercise, Given};
pub use exercise::{Case, Exercise, Record, record, verdict};
pub use inputs::*;
pub use message::{labelled, message, paragraph};
pub use numbers::{CaseNumbers, Numbers, Parts, Wrong};
pub use outcome::{
    Outcome, Panic, TimeUp, Words, call, now_running, seed, within_time_limit, words,
};
pub use pattern::Pattern;
pub use precision::Precision;
pub use report::{ExerciseWords, MistakeWords, Report, SectionWords, number};
pub use untyped::Untyped;
pub use verdict::Verdict;

// What answers are written with, so that a reader needs one `use`.
pub use attention::{
    Attended, Dims, HeadParameters, LayerParameters, Linear, Mask, Matrix, max_abs_diff,
    softmax_rows, weighted_values,
};
pub use gradients::softmax_rows_backward;
