//! The whole layer in loops.

use attention::{
    Attended, Dims, LayerParameters, Mask, Matrix, MultiHeadAttention, ParameterCount,
    Real, Result, check_inputs,
};
use single_head::attend_in_loops;

/// Multi-head attention without a single matrix product: heads token by token, and the
/// output one feature at a time.
///
/// It is slow, and it is the reference: every other stage is compared with it.
///
/// ```
/// use attention::{HeadParameters, LayerParameters, Linear, Mask, Matrix, MultiHeadAttention};
/// use per_head::NaiveAttention;
///
/// // Two heads without queries attend evenly. One hands on the first number of a token,
/// // one the second, and W^O swaps them.
/// let linear = |weight| Linear { weight, bias: None };
/// let hands_on = |w_v: [f64; 2]| HeadParameters {
///     w_q: linear(Matrix::zeros(2, 1)),
///     w_k: linear(Matrix::zeros(2, 1)),
///     w_v: linear(Matrix::from_row_slice(2, 1, &w_v)),
/// };
/// let w_o = linear(Matrix::from_row_slice(2, 2, &[0.0, 1.0, 1.0, 0.0]));
/// let heads = vec![hands_on([1.0, 0.0]), hands_on([0.0, 1.0])];
/// let layer = NaiveAttention::new(LayerParameters::new(heads, w_o)?);
/// let x = Matrix::from_row_slice(2, 2, &[1.0, 10.0, 3.0, 30.0]);
/// let out = layer.self_attend(&x, &Mask::Causal)?.out;
/// assert_eq!(out, Matrix::from_row_slice(2, 2, &[10.0, 1.0, 20.0, 2.0]));
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Source
/// Source 000, section 10.2.1: `z_j = Σ_i h_i W_ij^O`, where i runs over all heads.
#[derive(Debug, Clone, PartialEq)]
pub struct NaiveAttention<T: Real = f64> {
    parameters: LayerParameters<T>,
}

impl<T: Real> NaiveAttention<T> {
    /// The layer with these parameters.
    pub fn new(parameters: LayerParameters<T>) -> Self {
        Self { parameters }
    }
}

impl<T: Real> MultiHeadAttention<T> for NaiveAttention<T> {
    fn name(&self) -> &'static str {
        "naive"
    }

    fn dims(&self) -> Dims {
        self.parameters.dims()
    }

    fn parameter_count(&self) -> ParameterCount {
        self.parameters.count()
    }

    fn forward(
        &self,
        query: &Matrix<T>,
        key: &Matrix<T>,
        value: &Matrix<T>,
        mask: &Mask,
    ) -> Result<Attended<T>> {
        let dims = self.dims();
        check_inputs(dims, query, key, value, mask)?;
        let w_o = self.parameters.w_o();

        let mut attn = Vec::new();
        let mut heads = Vec::new();
        for (i, head) in self.parameters.heads().iter().enumerate() {
            let pass = attend_in_loops(head, query, key, value, &mask.of_head(i))?;
            attn.push(pass.attn);
            heads.push(pass.out);
        }

        // ANCHOR: mix
        let out = Matrix::from_fn(query.nrows(), dims.d_model(), |token, j| {
            let mut z_j = w_o.bias.as_ref().map_or(T::zero(), |b_o| b_o[j]);
            for (i, head) in heads.iter().enumerate() {
                for c in 0..dims.d_v() {
                    z_j += head[(token, c)] * w_o.weight[(i * dims.d_v() + c, j)];
                }
            }
            z_j
        });
        // ANCHOR_END: mix
        Ok(Attended { out, attn })
    }
}
