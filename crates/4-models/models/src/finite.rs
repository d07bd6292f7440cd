//! Whether what a model gives are numbers.

use attention::{Matrix, Real};
use block::Layers;

use crate::{Error, Result};

/// The layers, unless NaN or infinity stands in them: the error says where it begins.
///
/// # Errors
/// [`Error::NotFinite`](crate::Error::NotFinite).
pub fn finite<T: Real>(layers: Layers<T>) -> Result<Layers<T>> {
    match layers.not_finite() {
        None => Ok(layers),
        Some(place) => Err(Error::NotFinite { place }),
    }
}

/// Logits that are all numbers.
///
/// # Errors
/// [`Error::LogitsNotFinite`].
pub fn finite_logits<T: Real>(logits: Matrix<T>) -> Result<Matrix<T>> {
    match logits.iter().all(|logit| logit.is_finite()) {
        true => Ok(logits),
        false => Err(Error::LogitsNotFinite),
    }
}
