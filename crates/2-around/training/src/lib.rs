//! Experiments in which heads come to specialise, and measurements of whether they did.
//!
//! "We discover the weights through training", and heads "learn to look for different
//! things": here both happen in seconds, on a task small enough to know every answer.
//!
//! ```text
//! a task  ──▶ examples ──▶ layer ──▶ readout ──▶ loss
//!                            ▲                     │
//!                            └────── gradients ◀───┘      a step, a thousand times
//! ```
//!
//! [`Trainer`] takes the steps of any [`Learner`] one by one. What is trained, and on what, is
//! a module each:
//!
//! - [`one_layer`]: a layer and a readout, and what [`lookups`] and [`windows`] ask of them;
//! - [`repeats`]: a whole model, its embedding, positions and two layers of heads that work
//!   together;
//! - [`changed`]: the formula itself is another;
//! - [`dates`]: a model reads one text and writes another. There a date of the training can
//!   come back, and none of the test is among them.
//!
//! What ten seeds gave is kept with each of them, as the example `seeds` measured it: the
//! numbers of the book.
//!
//! Two decisions make the numbers mean something. **No example is seen twice**: batches
//! are drawn anew at every step, and scores are measured on a test set from a stream of
//! its own, so nothing can be learned by heart. And **what is planted is known**: a task
//! says where in each sequence the answer stands, which training never sees and maps are
//! compared with.
//!
//! ```
//! use std::ops::ControlFlow;
//! use training::Schedule;
//! use training::lookups::Lookups;
//! use training::one_layer::train;
//!
//! let schedule = Schedule { n_steps: 5, ..Lookups::schedule(1) };
//! let trained = train(&Lookups::default(), 3, &schedule, |step| {
//!     println!("step {}: loss {:.3}", step.step, step.loss);
//!     ControlFlow::Continue(())
//! })?;
//! assert_eq!(trained.last().step, 5);
//! # Ok::<(), attention::Error>(())
//! ```
//!
//! A count of seeds stands beside the chance that it has by itself:
//! [`ablation::odds`].
//!
//! Everything is in `f32`, for speed, on one thread: the same seed gives the same numbers
//! to the last bit on one machine.
//!
//! The vectors of lookups and windows are fixed, so that what is learned is in the heads.
//!
//! Left out: regularising.

pub mod changed;
pub mod dates;
pub mod lookups;
pub mod one_layer;
pub mod repeats;
mod schedule;
#[cfg(test)]
mod tests;
mod trainer;
pub mod windows;

pub use schedule::Schedule;
pub use trainer::{Batches, Learner, Step, Trainer, Training};
