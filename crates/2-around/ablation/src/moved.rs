//! How far maps moved.

use attention::{Matrix, Real};

use crate::HeadOfLayer as Head;

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

/// How far each head's map is from that of another pass, `[layer][head]`: see
/// [`total_variation`].
///
/// # Shapes
/// Both are maps `[layer][head]`, each `[n_q, n_kv]`.
pub fn moved<T: Real>(
    whole: &[Vec<Matrix<T>>],
    less: &[Vec<Matrix<T>>],
) -> Vec<Vec<f64>> {
    let maps = whole.iter().zip(less);
    let of_layer = |(whole, less): (&Vec<Matrix<T>>, &Vec<Matrix<T>>)| {
        whole.iter().zip(less).map(|(a, b)| total_variation(a, b)).collect()
    };
    maps.map(of_layer).collect()
}

/// The mean of that over the layers above the lowest of some heads; NaN where there is none.
pub fn later_moved(moved: &[Vec<f64>], heads: &[Head]) -> f64 {
    let later = later(heads, moved.len()).flat_map(|layer| moved[layer].iter().copied());
    let later: Vec<f64> = later.collect();
    later.iter().sum::<f64>() / later.len() as f64
}

/// The layers above the lowest of some heads: their maps can move, and no others.
pub fn later(heads: &[Head], n_layers: usize) -> std::ops::Range<usize> {
    let lowest = heads.iter().map(|(layer, _)| *layer).min().unwrap_or(n_layers);
    (lowest + 1).min(n_layers)..n_layers
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
