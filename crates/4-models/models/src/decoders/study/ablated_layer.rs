//! Heads of a decoder ablated.

use ablation::ablated_output;
use attention::{Attended, Linear, Mask, Matrix, Real, RowVector};
use variants::{VariantAttention, attended};

use crate::Result;
use crate::decoders::decoder::AsRead;

/// A layer in which some heads are replaced by constants, as [`ablation::ablated_layer`]
/// does it: by zeros for `None`, or by what they say on average.
///
/// # Shapes
/// A replacement is `[d_v]`.
///
/// # Errors
/// [`Error::Sizes`](crate::Error::Sizes) for a head that is not there, or a
/// replacement of another width.
pub fn ablated_layer<T: Real>(
    layer: &VariantAttention<T>,
    heads: &[(usize, Option<RowVector<T>>)],
) -> Result<VariantAttention<T>> {
    let mut projections = layer.projections().clone();
    projections[3] = ablated_output(&projections[3], layer.sizes().dims, heads)?;
    Ok(VariantAttention::new(layer.sizes(), projections, layer.changes().clone())?)
}

pub(super) fn w_o<T: Real>(layer: &VariantAttention<T>) -> &Linear<T> {
    &layer.projections()[3]
}

impl<T: Real> AsRead<T> {
    /// What every head of every layer says on average over all tokens of some texts, before
    /// W^O.
    ///
    /// # Shapes
    /// `n_layers` times h vectors `[d_v]`.
    ///
    /// # Errors
    /// As [`Decoder::forward`](crate::decoders::Decoder::forward).
    pub fn mean_outputs(&self, texts: &[Vec<usize>]) -> Result<Vec<Vec<RowVector<T>>>> {
        let empty = |layer: &VariantAttention<T>| {
            let dims = layer.sizes().dims;
            vec![RowVector::zeros(dims.d_v()); dims.n_heads()]
        };
        let mut sums: Vec<_> =
            self.blocks.iter().map(|block| empty(&block.attention.function)).collect();
        let mut n_tokens = 0;
        for ids in texts {
            n_tokens += ids.len();
            let x: Matrix<T> = self.embedding.forward(ids, 0)?;
            self.through(x, |layer, attention, x| {
                let heads = attention.steps(x, x, x, &Mask::Causal)?;
                for (sum, head) in sums[layer].iter_mut().zip(&heads) {
                    *sum += head.out.row_sum();
                }
                let Attended { out, attn } = attended(heads);
                Ok(Attended { out: w_o(attention).forward(&out)?, attn })
            })?;
        }
        let n = T::of(n_tokens.max(1) as f64);
        sums.iter_mut().flatten().for_each(|sum| *sum /= n);
        Ok(sums)
    }
}
