//! The other reading: every head writes into the output by itself.

use attention::{
    Attended, Dims, LayerParameters, Mask, Matrix, MultiHeadAttention, ParameterCount,
    Real, Result,
};

use crate::PerHeadAttention;

/// Multi-head attention as a sum over heads: `Σ_i head_i W_i^O + b^O`, where W_i^O is the
/// block of rows of W^O that reads head i.
///
/// It equals `Concat(head_1, …, head_h) W^O + b^O`, since a product with a matrix cut
/// into blocks of rows is the sum of the blocks' products. So "are the heads summed or
/// concatenated?" has one answer: concatenated and then mixed **is** summed, each head
/// with a W_i^O of its own. Summing the bare heads is something else.
///
/// ```
/// use attention::{Dims, LayerParameters, Mask, MultiHeadAttention, Rng, SeedableRng};
/// use per_head::{PerHeadAttention, SumOfHeadsAttention};
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let parameters: LayerParameters =
///     LayerParameters::random(Dims::new(8, 2)?, true, rng);
/// let x = attention::random_matrix(5, 8, 1.0, rng);
/// let summed = SumOfHeadsAttention::new(parameters.clone());
/// let concatenated = PerHeadAttention::new(parameters);
/// let out = summed.self_attend(&x, &Mask::None)?.out;
/// let same = concatenated.self_attend(&x, &Mask::None)?.out;
/// assert!((out - same).amax() < 1e-14);
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Source
/// Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", section
/// "Attention heads are independent and additive".
#[derive(Debug, Clone, PartialEq)]
pub struct SumOfHeadsAttention<T: Real = f64> {
    layer: PerHeadAttention<T>,
}

impl<T: Real> SumOfHeadsAttention<T> {
    /// The layer with these parameters.
    pub fn new(parameters: LayerParameters<T>) -> Self {
        Self { layer: PerHeadAttention::new(parameters) }
    }
}

impl<T: Real> MultiHeadAttention<T> for SumOfHeadsAttention<T> {
    fn name(&self) -> &'static str {
        "sum of heads"
    }

    fn dims(&self) -> Dims {
        self.layer.dims()
    }

    fn parameter_count(&self) -> ParameterCount {
        self.layer.parameter_count()
    }

    fn forward(
        &self,
        query: &Matrix<T>,
        key: &Matrix<T>,
        value: &Matrix<T>,
        mask: &Mask,
    ) -> Result<Attended<T>> {
        let parameters = self.layer.parameters();
        let heads = self.layer.heads(query, key, value, mask)?;
        // ANCHOR: sum
        let mut out = Matrix::zeros(query.nrows(), self.dims().d_model());
        for (i, head) in heads.iter().enumerate() {
            out += &head.out * parameters.w_o_of_head(i); // [n_q, d_v] × [d_v, d_model]
        }
        // ANCHOR_END: sum
        if let Some(b_o) = &parameters.w_o().bias {
            for mut token in out.row_iter_mut() {
                token += b_o;
            }
        }
        Ok(Attended { out, attn: heads.into_iter().map(|head| head.attn).collect() })
    }
}
