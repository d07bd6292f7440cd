//! Dropout: in training, some entries are left out by chance.

use std::borrow::Cow;

use attention::{Error, Matrix, Real, Result, Rng, Shape};
use rand::RngExt;

/// Dropout: in training each entry is 0 with chance p, and the others are multiplied by
/// 1 / (1 − p), so that the mean over all masks is the entry itself. In evaluation nothing
/// happens, and so nothing is called.
///
/// ```text
/// y   = x ⊙ m       m = 0 with chance p, else 1 / (1 − p)
/// d_x = d_y ⊙ m     the same mask
/// ```
///
/// A model cannot rely on any entry then. A row of an attention map adds up to 1 no more, but to
/// the sum of the weights that are kept, divided by 1 − p: to 1.25 at p = 0.2 if all are.
///
/// ```
/// use attention::{Matrix, Rng, SeedableRng};
/// use block::Dropout;
///
/// let mut dropout = Dropout::new(0.2, Rng::seed_from_u64(1))?;
/// let x: Matrix = Matrix::from_element(2, 5, 0.2); // two rows that add up to 1
/// let mask = dropout.mask(x.shape());
/// let y = x.component_mul(&mask);
/// for (x, y) in x.iter().zip(&y) {
///     assert!(*y == 0.0 || *y == x * 1.25);
/// }
/// let d_y = Matrix::from_element(2, 5, 1.0);
/// let d_x = d_y.component_mul(&mask);
/// assert_eq!(d_x, mask);
/// assert_ne!(dropout.mask(x.shape()), mask); // the next is another
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Source
/// Srivastava et al. 2014, section 4; the factor in training, and not its inverse in
/// evaluation, as in their section 10.
#[derive(Debug, Clone)]
pub struct Dropout {
    p: f64,
    rng: Rng,
}

impl Dropout {
    /// Dropout with the chance p. A clone draws the same masks.
    ///
    /// # Errors
    /// [`Error::NotBelowOne`] for a chance that is not at least 0 and below 1.
    pub fn new(p: f64, rng: Rng) -> Result<Self> {
        match (0.0..1.0).contains(&p) {
            true => Ok(Self { p, rng }),
            false => Err(Error::NotBelowOne { what: "the chance of dropout", value: p }),
        }
    }

    /// The next mask, by which a matrix of this shape is multiplied entry by entry.
    ///
    /// # Shapes
    /// `[n_rows, n_columns]`.
    pub fn mask<T: Real>(&mut self, (n_rows, n_columns): Shape) -> Matrix<T> {
        let kept = T::of(1.0 / (1.0 - self.p));
        Matrix::from_fn(n_rows, n_columns, |_, _| {
            let is_dropped = self.rng.random::<f64>() < self.p;
            if is_dropped { T::zero() } else { kept }
        })
    }
}

/// What a layer keeps of its pass, and in training the mask of what it put out.
#[derive(Debug, Clone)]
pub(crate) struct Dropped<K, T: Real> {
    pub pass: K,
    mask: Option<Matrix<T>>,
}

/// What a layer puts out, through dropout if there is one, and what is kept of it.
pub(crate) fn dropped<K, T: Real>(
    dropout: &mut Option<&mut Dropout>,
    out: Matrix<T>,
    pass: K,
) -> (Matrix<T>, Dropped<K, T>) {
    let mask = dropout.as_mut().map(|dropout| dropout.mask(out.shape()));
    let out = match &mask {
        Some(mask) => out.component_mul(mask),
        None => out,
    };
    (out, Dropped { pass, mask })
}

impl<K, T: Real> Dropped<K, T> {
    /// The gradient of what the layer put out, from that of what dropout left of it.
    ///
    /// # Errors
    /// [`Error::Shape`] if `d` is of another shape.
    pub fn backward<'a>(&self, d: &'a Matrix<T>) -> Result<Cow<'a, Matrix<T>>> {
        let Some(mask) = &self.mask else { return Ok(Cow::Borrowed(d)) };
        Error::expect_shape("the gradient behind dropout", mask.shape(), d.shape())?;
        Ok(Cow::Owned(d.component_mul(mask)))
    }
}

#[cfg(test)]
mod tests;
