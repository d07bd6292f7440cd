//! Random numbers for inputs, the same on every machine.

use attention::{
    Dims, LayerParameters, Mask, Matrix, Rng, SeedableRng, random_matrix, softmax_rows,
};

/// A matrix of random numbers with spread 1.
pub fn matrix(n_rows: usize, n_columns: usize, seed: u64) -> Matrix {
    random_matrix(n_rows, n_columns, 1.0, &mut Rng::seed_from_u64(seed))
}

/// Sizes that are fit by construction.
///
/// # Panics
/// If one of them is 0.
pub fn dims(d_model: usize, n_heads: usize, d_k: usize, d_v: usize) -> Dims {
    Dims::with_head_sizes(d_model, n_heads, d_k, d_v).expect("no size is 0")
}

/// A layer of random parameters, biases among them.
pub fn layer(dims: Dims, seed: u64) -> LayerParameters {
    LayerParameters::random(dims, true, &mut Rng::seed_from_u64(seed))
}

/// A map of random scores under a mask.
pub fn map(n_q: usize, n_kv: usize, mask: &Mask, seed: u64) -> Matrix {
    softmax_rows(mask.apply(matrix(n_q, n_kv, seed)))
}

/// Query 1 may attend to nothing, and every other query to two keys of three.
pub fn some_blocked(n_q: usize, n_kv: usize) -> Mask {
    Mask::Allowed(Matrix::from_fn(n_q, n_kv, |i, j| i != 1 && (i + j) % 3 != 2))
}
