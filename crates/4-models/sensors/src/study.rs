//! What the heads of a trained model look at, and what they are for: questions to a model,
//! with the controls that they need.
//!
//! [`asked`] gives windows of engines that no training has seen, with what was planted in
//! each, so that the criteria of [`training::windows::found`] can be asked of an engine as they were
//! of the windows they were made for. The controls in [`Judged`] are fresh heads and
//! [`directions`], heads that cut through the trained ones, both with scores that spread as
//! far; [`Ablation`] takes heads away.

mod ablation;
mod cases;
mod controls;
mod judged;
mod rows;

pub use self::ablation::Ablation;
pub use cases::{WindowCase, asked, asked_late};
pub use controls::directions;
pub use judged::{Judged, LEAST_SPREAD, met};
pub use rows::{matched, rows, spreads};
