//! The one product through which every gradient passes.

use attention::{Matrix, Real, View};

/// `a · b`, in which 0 times anything is 0, also 0 · NaN and 0 · ∞.
///
/// A zero says "was not read": a blocked key, a head that attends to nothing, an output
/// that the loss ignores. What was not read cannot matter, whatever number stands there.
/// That differs from the plain product only where something is not finite, so only the
/// columns in which that shows are summed again, without those terms.
///
/// # Shapes
/// `a` is `[n, m]`, `b` is `[m, p]`, the result `[n, p]`.
pub(crate) fn product<T: Real>(a: View<'_, T>, b: View<'_, T>) -> Matrix<T> {
    debug_assert_eq!(a.ncols(), b.nrows(), "one row a column");
    let mut out = a * b; // [n, p]
    if all_finite(out.as_slice()) {
        return out;
    }
    for (mut out_j, b_j) in out.column_iter_mut().zip(b.column_iter()) {
        if all_finite(out_j.as_slice()) {
            continue;
        }
        out_j.fill(T::zero());
        for (a_k, &b_kj) in a.column_iter().zip(&b_j) {
            out_j.zip_apply(&a_k, |out, a_ik| *out += zero_wins(a_ik, b_kj));
        }
    }
    out
}

/// It does not stop at the first that is not: so several are looked at in one
/// instruction.
fn all_finite<T: Real>(numbers: &[T]) -> bool {
    numbers.iter().fold(true, |all, x| all & x.is_finite())
}

/// `a · b`, and 0 if one of them is 0, whatever the other is.
pub(crate) fn zero_wins<T: Real>(a: T, b: T) -> T {
    if a == T::zero() || b == T::zero() { T::zero() } else { a * b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::{Rng, SeedableRng, random_matrix};

    #[test]
    fn finite_numbers_are_multiplied_as_always() {
        let rng = &mut Rng::seed_from_u64(1);
        let (a, b): (Matrix, Matrix) =
            (random_matrix(7, 6, 1.0, rng), random_matrix(6, 8, 1.0, rng));
        assert_eq!(product(a.as_view(), b.as_view()), a * b);
    }

    #[test]
    fn what_is_not_finite_is_met_only_by_what_is_not_zero() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let a = Matrix::from_row_slice(3, 2, &[0.0, 2.0, 3.0, 1.0, nan, 1.0]);
        let b = Matrix::from_row_slice(2, 3, &[nan, inf, 0.0, 5.0, 1.0, 4.0]);
        let out = product(a.as_view(), b.as_view());
        assert_eq!(out.row(0), Matrix::from_row_slice(1, 3, &[10.0, 2.0, 8.0]).row(0));
        assert!(out[(1, 0)].is_nan() && out[(2, 0)].is_nan() && out[(2, 1)].is_nan());
        assert_eq!((out[(1, 1)], out[(1, 2)], out[(2, 2)]), (inf, 4.0, 4.0));
    }
}
