//! How large a step may be: the learning rate rises and falls, and gradients are clipped.
//!
//! Steps are numbered from 1 to `n_steps`. Over the first `n_warm` of them, the rate
//! **rises** in equal increments, and step n_warm has the `peak`. Then it **falls** along
//! half a cosine: with s = (t − n_warm) / (n_steps − n_warm), which is 0 at the peak and
//! 1 at the last step, the rate of step t is peak · (1 + cos πs) / 2.
//!
//! The gradients of a step, one matrix per parameter, are **clipped** together. Their
//! norm is the root of the sum of the squares of all their entries. If it is larger than
//! `max_norm`, all gradients are multiplied by the factor that makes it max_norm.
//! Otherwise they stay unchanged.
//!
//! What must be true of the answer:
//! - the rate is peak / n_warm at step 1, and 0 at the last step;
//! - with an n_warm of 0, step 1 is already on the cosine;
//! - clipping changes the norm of the gradients but not their direction, and gradients
//!   that are all 0 stay 0.
//!
//! `m.norm_squared()` is the sum of a matrix's squared entries, and
//! `std::f64::consts::PI` is π. The check tries all steps from 1 to n_steps.

use std::process::ExitCode;

use exercises::{
    Matrix,
    warm_up::{self, Schedule, Step},
};

/// The rate of step t, and its gradients, clipped.
///
/// # Shapes
/// `gradients` are matrices of any shapes, and the results have the same. t is at least 1
/// and at most n_steps, which is larger than n_warm.
// ANCHOR: answer
pub fn warm_up(t: usize, schedule: &Schedule, gradients: &[Matrix]) -> Step {
    // YOURS: Step { rate, gradients }.
    let &Schedule { peak, n_warm, n_steps, max_norm } = schedule;
    let rate = if t <= n_warm {
        peak * t as f64 / n_warm as f64
    } else {
        let s = (t - n_warm) as f64 / (n_steps - n_warm) as f64;
        peak * (1.0 + (std::f64::consts::PI * s).cos()) / 2.0
    };
    let squares: f64 = gradients.iter().map(|g| g.norm_squared()).sum();
    let norm = squares.sqrt();
    let factor = if norm > max_norm { max_norm / norm } else { 1.0 };
    Step { rate, gradients: gradients.iter().map(|g| g * factor).collect() }
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    warm_up::check(warm_up)
}
