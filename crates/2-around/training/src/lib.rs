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
//! A [`Task`] draws examples: sequences in which one token asks, and what is right. A
//! [`Model`] is one attention layer and one linear readout, nothing else: whatever an
//! answer needs must pass through some head. [`Trainer`] takes the steps of any [`Learner`]
//! one by one, and [`train()`] is the loop over it for a model, which tells its caller of
//! every step and can be told to stop. [`Ablation`] replaces heads one by one, and as a
//! control random directions of the same width, and so says what each head was for.
//!
//! Two decisions make the numbers mean something. **No example is seen twice**: batches
//! are drawn anew at every step, and scores are measured on a test set from a stream of
//! its own, so nothing can be learned by heart. And **what is planted is known**: a task
//! says where in each sequence the answer stands, which training never sees and maps are
//! compared with.
//!
//! ```
//! use std::ops::ControlFlow;
//! use training::{Lookups, Schedule, train};
//!
//! let schedule = Schedule { n_steps: 5, ..Lookups::schedule(1) };
//! let trained = train(&Lookups::default(), 3, &schedule, |step| {
//!     println!("step {}: loss {:.3}", step.step, step.loss);
//!     ControlFlow::Continue(())
//! })?;
//! assert_eq!(trained.last().step, 5);
//! # Ok::<(), training::Error>(())
//! ```
//!
//! A count of seeds stands beside the chance that it has by itself:
//! [`ablation::odds`](::ablation::odds).
//!
//! Everything is in `f32`, for speed, on one thread: the same seed gives the same numbers
//! to the last bit on one machine.
//!
//! These tasks' vectors are fixed, so that what is learned is in the heads. In a room of
//! its own, [`Repeats`] trains a whole model, its embedding, positions and two layers of
//! heads that work together: see [`Predictor`].
//!
//! In another the formula itself is changed: see [`Follower`] and [`Reader`].
//!
//! In a third a model reads one text and writes another: [`dates`]. There a date of the
//! training can come back, and none of the test is among them.
//!
//! Left out: regularising.

mod changed;
mod data;
pub mod dates;
mod error;
mod lookups;
mod one_layer;
mod repeats;
mod schedule;
#[cfg(test)]
mod tests;
mod trainer;
mod windows;

pub use changed::{Follower, FollowerPlan, Place, Reader, Stretch};
pub use data::{
    CENTURIES, CODES, DATES, DATES_JOINED, DATES_MOVED, DATES_SMALL, LOOKUPS, LOUDNESS,
    PLACES, REPEATS, SHARED, STRETCHED, WINDOWS,
};
pub use error::{Error, Result};
pub use lookups::{
    Code, EqualShares, Exchange, Lookups, Over, PAIRS, PairAnswers, Sentence, Sizes,
    log_share_by_identity,
};
pub use one_layer::{
    Ablation, Answers, Control, Examples, Look, Model, Prediction, Report, Task, focus,
    strongest, train,
};
pub use repeats::{
    Architecture, Attribution, Carried, Composition, CompositionScores, HeadShares,
    Margins, Mistakes, Part, PathEnd, Paths, Planted, Predictor, PredictorLook, Repeats,
    Sequences, StackAblation, Start,
};
pub use schedule::Schedule;
pub use trainer::{Batches, Learner, Step, Trainer, Training};
pub use windows::{
    Found, HeadMeasures, SPECIALISATIONS, Window, Windows, found, specialisations,
};
