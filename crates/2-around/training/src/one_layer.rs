//! One attention layer and one linear readout, and what they can be asked to learn.
//!
//! A [`Task`] draws examples: sequences in which one token asks, and what is right. A
//! [`Model`] is one layer and one readout, nothing else: whatever an answer needs must pass
//! through some head. [`train()`] is the loop over a [`Trainer`](crate::Trainer) for a model,
//! which tells its caller of every step and can be told to stop. [`Ablation`] replaces heads
//! one by one, and as a control random directions of the same width, and so says what each
//! head was for.
//!
//! The tasks are [`lookups`](crate::lookups) and [`windows`](crate::windows).

mod ablation;
mod model;
mod report;
mod task;
mod train;

pub use self::ablation::{Ablation, Control, strongest};
pub use model::{Model, Prediction};
pub use report::Report;
pub use task::{Answers, Examples, Task};
pub(crate) use task::{mean, named_classes, spread};
pub use train::{Look, train};
