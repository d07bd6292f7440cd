//! What heads put out, and the W^O that mixes it: shared by several exercises.

use attention::{Linear, Matrix};

use super::inputs;

/// Random outputs of heads, `[n_tokens, d_v]` each.
pub fn outputs(n_heads: usize, n_tokens: usize, d_v: usize, seed: u64) -> Vec<Matrix> {
    (0..n_heads as u64).map(|i| inputs::matrix(n_tokens, d_v, 100 * seed + i)).collect()
}

/// W^O, `[h · d_v, d_model]`, with its bias.
pub fn mixer(n_heads: usize, d_v: usize, d_model: usize, seed: u64) -> Linear {
    inputs::layer(inputs::dims(d_model, n_heads, d_v, d_v), seed).w_o().clone()
}

/// The heads side by side, as `per-head` sets them.
pub fn concat(heads: &[Matrix]) -> Matrix {
    per_head::concat(heads).expect("heads of one shape")
}

/// The heads side by side, the last one first.
pub fn concat_reversed(heads: &[Matrix]) -> Matrix {
    concat(&heads.iter().rev().cloned().collect::<Vec<_>>())
}

/// Feature 0 of every head, then feature 1 of every head, and so on.
pub fn concat_interleaved(heads: &[Matrix]) -> Matrix {
    let (n_heads, (n_tokens, d_v)) = (heads.len(), heads[0].shape());
    Matrix::from_fn(n_tokens, n_heads * d_v, |token, column| {
        heads[column % n_heads][(token, column / n_heads)]
    })
}

/// `x · W + b` for widths that fit; a panic for others, as in a reader's code.
pub fn project(linear: &Linear, x: &Matrix) -> Matrix {
    linear.forward(x).expect("the widths fit")
}

/// The same projection without its bias.
pub fn without_bias(linear: &Linear) -> Linear {
    Linear { bias: None, ..linear.clone() }
}
