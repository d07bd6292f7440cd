//! Matrices and the numbers in them.

use nalgebra::{DMatrix, DMatrixView, RealField, RowDVector};
use rand::{Rng, RngExt};

use crate::{Error, Result};

/// A dense matrix, one row a token: `x` is `[n_tokens, d_model]`.
///
/// nalgebra stores columns one after the other. A block of columns, such as one head of
/// a fused projection, is therefore one contiguous piece of memory and a free view.
pub type Matrix<T = f64> = DMatrix<T>;

/// A block of a matrix, borrowed: nothing is copied.
pub type View<'a, T = f64> = DMatrixView<'a, T>;

/// One row by itself, such as a bias.
pub type RowVector<T = f64> = RowDVector<T>;

/// The numbers that a layer computes with: `f64` where digits matter, `f32` for speed.
pub trait Real: RealField + Copy {
    /// The nearest number of this type.
    fn of(x: f64) -> Self;
    /// This number in double precision, exactly.
    fn to_f64(self) -> f64;
    /// Whether this is not a number.
    fn is_nan(self) -> bool {
        self.to_f64().is_nan()
    }
}

impl Real for f64 {
    fn of(x: f64) -> Self {
        x
    }
    fn to_f64(self) -> f64 {
        self
    }
}

impl Real for f32 {
    fn of(x: f64) -> Self {
        x as f32
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

/// The largest difference between two matrices, `max |a_ij − b_ij|`: the number by which
/// this workspace says that two computations agree.
///
/// A NaN in either makes the result NaN, which is below no tolerance.
///
/// # Shapes
/// `a` and `b` have the same shape.
///
/// # Errors
/// [`Error::Shape`] if they do not.
pub fn max_abs_diff<T: Real>(a: &Matrix<T>, b: &Matrix<T>) -> Result<f64> {
    Error::expect_shape("the second matrix", a.shape(), b.shape())?;
    let differences = a.iter().zip(b.iter()).map(|(a, b)| (*a - *b).to_f64().abs());
    Ok(differences.fold(
        0.0,
        |largest, d| {
            if d.is_nan() || d > largest { d } else { largest }
        },
    ))
}

/// A matrix of independent uniform numbers with mean 0 and the given standard deviation.
///
/// Uniform and not Gaussian: it needs nothing but exactly rounded arithmetic, so that a
/// seed gives the same numbers on every platform.
///
/// # Shapes
/// The result is `[n_rows, n_cols]`.
pub fn random_matrix<T: Real>(
    n_rows: usize,
    n_cols: usize,
    std_dev: f64,
    rng: &mut impl Rng,
) -> Matrix<T> {
    let half_width = std_dev * 3f64.sqrt();
    Matrix::from_fn(n_rows, n_cols, |_, _| {
        T::of(half_width * (2.0 * rng.random::<f64>() - 1.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rng, SeedableRng};

    #[test]
    fn a_nan_is_never_within_tolerance() {
        let a = Matrix::from_row_slice(1, 3, &[1.0, f64::NAN, 2.0]);
        let b = Matrix::from_row_slice(1, 3, &[1.0, 1.0, 9.0]);
        assert!(max_abs_diff(&a, &b).unwrap().is_nan());
        assert!(max_abs_diff(&b, &a).unwrap().is_nan());
    }

    #[test]
    fn the_largest_difference_is_found_anywhere() {
        let a = Matrix::from_row_slice(2, 2, &[1.0, 2.0, 3.0, 4.0]);
        let b = Matrix::from_row_slice(2, 2, &[1.0, 2.5, 3.0, 3.75]);
        assert_eq!(max_abs_diff(&a, &b), Ok(0.5));
    }

    #[test]
    fn random_numbers_have_the_spread_asked_for() {
        let x: Matrix = random_matrix(200, 200, 0.5, &mut Rng::seed_from_u64(1));
        assert!(x.mean().abs() < 0.01, "mean {}", x.mean());
        assert!((x.variance().sqrt() - 0.5).abs() < 0.01, "{}", x.variance().sqrt());
    }

    #[test]
    fn a_seed_gives_the_same_numbers_on_every_platform() {
        let x: Matrix = random_matrix(1, 3, 1.0, &mut Rng::seed_from_u64(0));
        insta::assert_snapshot!(format!("{:?}", x.as_slice()), @"[-0.6076890973475118, -0.40793504315367024, -0.4863002577263446]");
    }
}
