//! How far a map moved.

use attention::{Matrix, Real};

/// The share of its attention that a query gives elsewhere, on average over the queries: the
/// total variation distance of two rows, `½ Σ_j |a_ij − b_ij|`. 0 is the same map, and 1 is
/// one that shares no key with it.
///
/// # Shapes
/// Both are `[n_q, n_kv]`. 0 of no queries.
pub fn total_variation<T: Real>(a: &Matrix<T>, b: &Matrix<T>) -> f64 {
    let apart = a.iter().zip(b.iter()).map(|(a, b)| (a.to_f64() - b.to_f64()).abs());
    apart.sum::<f64>() / (2 * a.nrows().max(1)) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_moves_by_what_it_gives_elsewhere() {
        let a = Matrix::from_row_slice(2, 3, &[1.0, 0.0, 0.0, 0.5, 0.5, 0.0]);
        let b = Matrix::from_row_slice(2, 3, &[0.0, 0.0, 1.0, 0.5, 0.25, 0.25]);
        assert_eq!(total_variation(&a, &a), 0.0);
        assert_eq!(total_variation(&a, &b), (1.0 + 0.25) / 2.0);
    }
}
