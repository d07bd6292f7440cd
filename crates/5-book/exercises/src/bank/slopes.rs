//! Central differences, for tests: gradients without calculus.

use attention::Matrix;

/// The slope of `loss` in each entry of `m`: the entry is made a little larger, then a
/// little smaller.
pub fn of(m: &Matrix, loss: impl Fn(&Matrix) -> f64) -> Matrix {
    const H: f64 = 1e-5;
    Matrix::from_fn(m.nrows(), m.ncols(), |i, j| {
        let nudged = |by: f64| {
            let mut m = m.clone();
            m[(i, j)] += by;
            loss(&m)
        };
        (nudged(H) - nudged(-H)) / (2.0 * H)
    })
}
