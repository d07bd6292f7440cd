//! What sentences lose when heads are ablated.

use ablation::{Replacement, ablated_layer};
use attention::{LayerParameters, RowVector};
use block::{Block, Layers};
use model_files::Sequence;

use crate::encoders::{Encoder, Stage, sentence_embedding};
use crate::head::lowest_layer;
use crate::{Error, Result};

/// A model on some sentences, of which heads can be ablated.
///
/// A mean is that of what a head says over all tokens of all sentences. Below the lowest
/// ablated head nothing changes, and so nothing is computed again.
pub struct Study<'a> {
    parameters: &'a Encoder<LayerParameters<f32>, f32>,
    stage: fn(&LayerParameters<f32>) -> Stage<f32>,
    sequences: &'a [Sequence],
    layers: Vec<Layers<f32>>,
    /// `means[l][i]` is what head i of layer l says on average, `[d_v]`.
    means: Vec<Vec<RowVector<f32>>>,
}

impl<'a> Study<'a> {
    /// Runs the whole model on every sentence.
    ///
    /// # Errors
    /// As [`Encoder::forward`].
    pub fn new(
        parameters: &'a Encoder<LayerParameters<f32>, f32>,
        stage: fn(&LayerParameters<f32>) -> Stage<f32>,
        sequences: &'a [Sequence],
    ) -> Result<Self> {
        let model = parameters.with_attention(|_, parameters| stage(parameters));
        let layers = sequences.iter().map(|sequence| model.forward(sequence));
        let layers = layers.collect::<Result<Vec<_>>>()?;
        let means = parameters.stack.blocks.iter().enumerate().map(|(l, block)| {
            let heads = 0..block.attention.function.dims().n_heads();
            heads.map(|i| mean_output(&block.attention.function, i, l, &layers)).collect()
        });
        let means = means.collect::<Result<_>>()?;
        Ok(Self { parameters, stage, sequences, layers, means })
    }

    /// What every layer gave for each sentence, with all heads.
    pub fn layers(&self) -> &[Layers<f32>] {
        &self.layers
    }

    /// Each sentence's vector without some heads, of length 1; with all heads where none is
    /// named.
    ///
    /// # Errors
    /// [`Error::Sizes`] for a layer or a head that is not there;
    /// [`Error::NoConstant`] for [`Replacement::Resample`].
    ///
    /// # Shapes
    /// As many as sentences, each `[d_model]`.
    pub fn embeddings(
        &self,
        heads: &[(usize, usize)],
        replacement: Replacement,
    ) -> Result<Vec<RowVector<f32>>> {
        let Encoder { config, stack, .. } = self.parameters;
        let lowest = lowest_layer(heads, [stack.blocks.len(), config.dims.n_heads()])?;
        let blocks = stack.blocks.iter().enumerate();
        let blocks = blocks.map(|(l, block)| self.ablated(l, block, heads, replacement));
        let blocks = blocks.collect::<Result<Vec<_>>>()?;
        let one = |(sequence, layers): (&Sequence, &Layers<f32>)| {
            let mask = sequence.mask()?;
            let layers = layers
                .up_to(lowest)
                .through(&blocks, |_, reads, a, x| reads.attend(a, x, &mask, None))?;
            Ok(sentence_embedding(layers.out(), &sequence.is_real))
        };
        self.sequences.iter().zip(&self.layers).map(one).collect()
    }

    /// How far each sentence's vector is from where it was, `1 − cos`, without some heads,
    /// on average over the sentences.
    ///
    /// # Errors
    /// As [`embeddings`](Self::embeddings).
    ///
    /// # Source
    /// Michel et al. 2019, section 3; Voita et al. 2019, section 5. Differs: both measure
    /// what a task loses, this what the sentence's vector does.
    pub fn loss(
        &self,
        heads: &[(usize, usize)],
        replacement: Replacement,
    ) -> Result<f64> {
        if heads.is_empty() {
            return Ok(0.0); // to the last bit
        }
        let (whole, without) =
            (self.embeddings(&[], replacement)?, self.embeddings(heads, replacement)?);
        let lost = whole.iter().zip(&without).map(|(a, b)| 1.0 - f64::from(a.dot(b)));
        Ok(lost.sum::<f64>() / self.sequences.len().max(1) as f64)
    }

    /// A block without some of its heads.
    fn ablated(
        &self,
        layer: usize,
        block: &Block<LayerParameters<f32>, f32>,
        heads: &[(usize, usize)],
        replacement: Replacement,
    ) -> Result<Block<Stage<f32>, f32>> {
        let of_layer = heads.iter().filter(|(of, _)| *of == layer);
        let instead = |&(_, head): &(usize, usize)| match replacement {
            Replacement::Zero => Ok((head, None)),
            Replacement::Mean => Ok((head, self.means[layer].get(head).cloned())),
            Replacement::Resample => Err(Error::NoConstant),
        };
        let gone = of_layer.map(instead).collect::<Result<Vec<_>>>()?;
        let parameters = ablated_layer(&block.attention.function, &gone)?;
        Ok(block.with_attention(|_| (self.stage)(&parameters)))
    }
}

/// The mean of what a head says before W^O, `A_i (x W_i^V + b_i^V)`, over all tokens of all
/// sentences, `[d_v]`.
fn mean_output(
    parameters: &LayerParameters<f32>,
    head: usize,
    layer: usize,
    layers: &[Layers<f32>],
) -> Result<RowVector<f32>> {
    let mut sum = RowVector::zeros(parameters.dims().d_v());
    let mut n_tokens = 0;
    for one in layers {
        let values = parameters.heads()[head].w_v.forward(&one.hidden[layer])?;
        let z = &one.attn[layer][head] * values; // [n_tokens, d_v]
        sum += z.row_sum();
        n_tokens += z.nrows();
    }
    Ok(sum / n_tokens.max(1) as f32)
}
