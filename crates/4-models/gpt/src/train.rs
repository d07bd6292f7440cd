//! Training, whatever computes the gradients.

use std::ops::ControlFlow;

use attention::{Matrix, Result, Rng};
use gradients::{Adam, Optimiser};
use rand::seq::IndexedRandom;

use crate::Gradients;
use crate::scalars::BATCH;

/// Takes steps of Adam, each on some names drawn at random, as [`scalars::train`] does, until
/// `watch`, which is given each step's number and loss, says to stop; gives the losses.
///
/// # Errors
/// [`attention::Error`] for a name that is longer than there are positions.
///
/// [`scalars::train`]: crate::scalars::train
pub fn train(
    gradients: Gradients,
    parameters: &mut [f64],
    names: &[Vec<usize>],
    n_steps: usize,
    rng: &mut Rng,
    mut watch: impl FnMut(usize, f64) -> ControlFlow<()>,
) -> Result<Vec<f64>> {
    let mut adam: Adam = Adam::new(0.01);
    let mut list = Matrix::from_row_slice(1, parameters.len(), parameters);
    let mut losses = Vec::new();
    for step in 0..n_steps {
        let drawn: Vec<_> =
            (0..BATCH).filter_map(|_| names.choose(rng).cloned()).collect();
        let (loss, d) = gradients(list.as_slice(), &drawn)?;
        adam.step_entries(&mut list, &Matrix::from_vec(1, d.len(), d))?;
        losses.push(loss);
        if watch(step, loss).is_break() {
            break;
        }
    }
    parameters.copy_from_slice(list.as_slice());
    Ok(losses)
}
