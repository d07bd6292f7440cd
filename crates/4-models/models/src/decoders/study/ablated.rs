//! Heads of a decoder that put out something else.

use ablation::ablated_output;
use attention::{Matrix, Real, RowVector};
use block::Layers;
use variants::VariantAttention;

use super::HeadOfLayer;
use crate::decoders::Pass;
use crate::decoders::decoder::AsRead;
use crate::{Error, Result};

impl<T: Real> AsRead<T> {
    /// Activation patching: a pass in which some heads put out what stands in other
    /// concatenations, token by token, before W^O reads it.
    ///
    /// Zeros or means ([`zeros`](Pass::zeros), [`average`](Pass::average)) ablate a head;
    /// the concatenations of another text patch it with what it put out there.
    ///
    /// # Shapes
    /// `instead` has one `[n_tokens, h · d_v]` per layer, as [`Pass::concats`]; the result is
    /// as [`Decoder::forward`](crate::decoders::Decoder::forward).
    ///
    /// # Errors
    /// [`Error::Sizes`](crate::Error::Sizes) for a head that is not there, and for a pass
    /// or concatenations of another model or of another number of tokens.
    ///
    /// # Source
    /// Vig et al. 2020, "Investigating Gender Bias in Language Models Using Causal Mediation
    /// Analysis", section 3 (patching); Michel et al. 2019, section 2.2 (zeros).
    // ANCHOR: ablated
    pub fn ablated(
        &self,
        pass: &Pass<T>,
        heads: &[HeadOfLayer],
        instead: &[Matrix<T>],
    ) -> Result<Layers<T>> {
        // Below the lowest head nothing changes.
        let lowest = self.lowest_layer(heads)?;
        Error::expect_concats(self.blocks.len(), &pass.concats, instead)?;
        let before = self.up_to(&pass.layers, lowest)?;
        if heads.is_empty() {
            return Ok(before);
        }
        let d_v = self.config.dims().d_v();
        self.go_on_with(before, |layer, concat| {
            for (_, head) in heads.iter().filter(|(of, _)| *of == layer) {
                let columns = instead[layer].columns(head * d_v, d_v);
                concat.columns_mut(head * d_v, d_v).copy_from(&columns);
            }
        })
    }
    // ANCHOR_END: ablated

    /// What every head of every layer says on average over all tokens of some texts, before
    /// W^O.
    ///
    /// # Shapes
    /// `n_layers` times h vectors `[d_v]`.
    ///
    /// # Errors
    /// As [`Decoder::forward`](crate::decoders::Decoder::forward).
    pub fn mean_outputs(&self, texts: &[Vec<usize>]) -> Result<Vec<Vec<RowVector<T>>>> {
        let (h, d_v) = (self.config.dims().n_heads(), self.config.dims().d_v());
        let mut sums = vec![vec![RowVector::zeros(d_v); h]; self.blocks.len()];
        let mut n_tokens = 0;
        for ids in texts {
            n_tokens += ids.len();
            let start = Layers::new(self.embedding.forward(ids, 0)?);
            self.go_on_with(start, |layer, concat| {
                for (head, sum) in sums[layer].iter_mut().enumerate() {
                    *sum += concat.columns(head * d_v, d_v).row_sum();
                }
            })?;
        }
        let n = T::of(n_tokens.max(1) as f64);
        sums.iter_mut().flatten().for_each(|sum| *sum /= n);
        Ok(sums)
    }
}

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

impl<T: Real> Pass<T> {
    /// Heads that put out zeros.
    ///
    /// # Shapes
    /// As [`concats`](Self::concats).
    pub fn zeros(&self) -> Vec<Matrix<T>> {
        let zeros = |concat: &Matrix<T>| Matrix::zeros(concat.nrows(), concat.ncols());
        self.concats.iter().map(zeros).collect()
    }

    /// Heads that put out the same at every token: their means, as
    /// [`mean_outputs`](crate::decoders::Decoder::mean_outputs) measures them.
    ///
    /// # Shapes
    /// As [`concats`](Self::concats); `means` is `[layer][head]`, `[d_v]`.
    pub fn average(&self, means: &[Vec<RowVector<T>>]) -> Vec<Matrix<T>> {
        let n = self.ids.len();
        let of_layer = |means: &Vec<RowVector<T>>| {
            let row: Vec<T> =
                means.iter().flat_map(|mean| mean.iter().copied()).collect();
            Matrix::from_fn(n, row.len(), |_, column| row[column])
        };
        means.iter().map(of_layer).collect()
    }
}
