//! What the backward pass writes, in memory that is there already.

use attention::{InputGradients, Matrix};

/// The gradient of tokens that are query, key and value.
pub(super) fn of_one_input(gradients: &mut InputGradients<f32>) -> &mut Matrix<f32> {
    if !matches!(gradients, InputGradients::SelfAttention { .. }) {
        *gradients = InputGradients::SelfAttention { d_x: Matrix::zeros(0, 0) };
    }
    match gradients {
        InputGradients::SelfAttention { d_x } => d_x,
        InputGradients::CrossAttention { .. } => unreachable!("it is not that any more"),
    }
}

/// The gradients of query, key and value.
pub(super) fn of_three_inputs(
    gradients: &mut InputGradients<f32>,
) -> [&mut Matrix<f32>; 3] {
    if !matches!(gradients, InputGradients::CrossAttention { .. }) {
        let [d_query, d_key, d_value] = [0; 3].map(|n| Matrix::zeros(n, n));
        *gradients = InputGradients::CrossAttention { d_query, d_key, d_value };
    }
    match gradients {
        InputGradients::CrossAttention { d_query, d_key, d_value } => {
            [d_query, d_key, d_value]
        }
        InputGradients::SelfAttention { .. } => unreachable!("it is not that any more"),
    }
}

/// A matrix of this shape, in the memory that it has if that is its shape already. What is
/// in it is left over.
pub(super) fn of_shape(
    matrix: &mut Matrix<f32>,
    (n_rows, n_columns): (usize, usize),
) -> &mut Matrix<f32> {
    if matrix.shape() != (n_rows, n_columns) {
        *matrix = Matrix::zeros(n_rows, n_columns);
    }
    matrix
}
