//! Random numbers for inputs, the same on every machine.

use attention::{Dims, LayerParameters, Matrix, Rng, SeedableRng, random_matrix};

/// A matrix of random numbers with spread 1.
pub fn matrix(n_rows: usize, n_columns: usize, seed: u64) -> Matrix {
    random_matrix(n_rows, n_columns, 1.0, &mut Rng::seed_from_u64(seed))
}

/// Sizes that are fit by construction.
pub fn dims(d_model: usize, n_heads: usize, d_k: usize, d_v: usize) -> Dims {
    Dims::with_head_sizes(d_model, n_heads, d_k, d_v).expect("no size is 0")
}

/// A layer of random parameters, biases among them.
pub fn layer(dims: Dims, seed: u64) -> LayerParameters {
    LayerParameters::random(dims, true, &mut Rng::seed_from_u64(seed))
}
