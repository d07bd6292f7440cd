//! What the backward pass gives.

use attention::{Linear, Matrix};
use rayon::prelude::*;

/// How many numbers a thread looks at before it takes the next.
const PART: usize = 1 << 16;

/// The gradients of a layer's parameters and inputs, each of the shape of what it is the
/// gradient of.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradients {
    /// Of W^Q, `[d_model, h · d_k]`, and its bias.
    pub d_w_q: Linear<f32>,
    /// Of W^K, `[key_width, h · d_k]`, and its bias.
    pub d_w_k: Linear<f32>,
    /// Of W^V, `[value_width, h · d_v]`, and its bias.
    pub d_w_v: Linear<f32>,
    /// Of W^O, `[h · d_v, d_model]`, and its bias.
    pub d_w_o: Linear<f32>,
    /// Of the tokens.
    pub d_inputs: InputGradients,
}

impl Default for Gradients {
    /// No gradients yet, all of no size, for [`Pass::backward_into`] to write.
    ///
    /// [`Pass::backward_into`]: crate::Pass::backward_into
    fn default() -> Self {
        let none = || Matrix::zeros(0, 0);
        let [d_w_q, d_w_k, d_w_v, d_w_o] =
            std::array::from_fn(|_| Linear { weight: none(), bias: None });
        let d_inputs = InputGradients::SelfAttention { d_x: none() };
        Self { d_w_q, d_w_k, d_w_v, d_w_o, d_inputs }
    }
}

impl Gradients {
    /// Whether no number is NaN or infinite.
    pub(super) fn are_finite(&self) -> bool {
        let linears = [&self.d_w_q, &self.d_w_k, &self.d_w_v, &self.d_w_o];
        let inputs = match &self.d_inputs {
            InputGradients::SelfAttention { d_x } => vec![d_x],
            InputGradients::CrossAttention { d_query, d_key, d_value } => {
                vec![d_query, d_key, d_value]
            }
        };
        let biases = linears.iter().filter_map(|linear| linear.bias.as_ref());
        let biases = biases.map(|bias| bias.as_slice());
        let matrices = linears.iter().map(|linear| &linear.weight).chain(inputs);
        let slices = matrices.map(|matrix| matrix.as_slice()).chain(biases);
        let parts: Vec<_> = slices.flat_map(|slice| slice.chunks(PART)).collect();
        // A part is looked at whole: so many numbers of it are looked at at once.
        let finite = |part: &[f32]| part.iter().fold(true, |all, x| all & x.is_finite());
        parts.into_par_iter().all(finite)
    }
}

/// The gradients of the tokens.
#[derive(Debug, Clone, PartialEq)]
pub enum InputGradients {
    /// Query, key and value were one matrix: the sum of the three ways back,
    /// `[n_sequences · n_tokens, d_model]`.
    SelfAttention {
        /// Of the tokens.
        d_x: Matrix<f32>,
    },
    /// They were not.
    CrossAttention {
        /// `[n_sequences · n_q, d_model]`.
        d_query: Matrix<f32>,
        /// `[n_sequences · n_kv, key_width]`.
        d_key: Matrix<f32>,
        /// `[n_sequences · n_kv, value_width]`.
        d_value: Matrix<f32>,
    },
}

impl InputGradients {
    /// The gradient of tokens that are query, key and value.
    pub(super) fn of_one_matrix(&mut self) -> &mut Matrix<f32> {
        if !matches!(self, Self::SelfAttention { .. }) {
            *self = Self::SelfAttention { d_x: Matrix::zeros(0, 0) };
        }
        match self {
            Self::SelfAttention { d_x } => d_x,
            Self::CrossAttention { .. } => unreachable!("it is not that any more"),
        }
    }

    /// The gradients of query, key and value.
    pub(super) fn of_three_matrices(&mut self) -> [&mut Matrix<f32>; 3] {
        if !matches!(self, Self::CrossAttention { .. }) {
            let [d_query, d_key, d_value] = [0; 3].map(|n| Matrix::zeros(n, n));
            *self = Self::CrossAttention { d_query, d_key, d_value };
        }
        match self {
            Self::CrossAttention { d_query, d_key, d_value } => [d_query, d_key, d_value],
            Self::SelfAttention { .. } => unreachable!("it is not that any more"),
        }
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
