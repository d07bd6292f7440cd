//! What changes in a text's pass when some heads put out something else.

use ablation::{later_moved, moved};
use attention::{Mask, Matrix, Real, softmax_rows};
use block::Layers;

use super::HeadOfLayer;
use crate::Result;
use crate::decoders::Pass;
use crate::decoders::decoder::AsRead;

/// What a pass says of a text, beside the whole model's pass.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The probability of each token of the vocabulary to come next.
    pub next: Vec<f64>,
    /// The loss of each token of the text but the first, in nats.
    pub losses: Vec<f64>,
    /// How far each head's map moved, `[layer][head]`: see [`moved`].
    pub moved: Vec<Vec<f64>>,
}

impl Effect {
    /// The share of probability that went to other tokens, beside the whole model's:
    /// `½ Σ |p − q|`.
    pub fn next_moved(&self, whole: &Self) -> f64 {
        let apart = self.next.iter().zip(&whole.next).map(|(p, q)| (p - q).abs());
        apart.sum::<f64>() / 2.0
    }

    /// The mean loss in nats per token; NaN of a text of one token.
    pub fn loss(&self) -> f64 {
        self.losses.iter().sum::<f64>() / self.losses.len() as f64
    }

    /// How far the maps of the layers above the lowest of some heads moved, on average; NaN
    /// where there is no layer above.
    pub fn later_moved(&self, heads: &[HeadOfLayer]) -> f64 {
        later_moved(&self.moved, heads)
    }
}

impl<T: Real> AsRead<T> {
    /// What a text becomes if some heads put out something else; with no heads, what it is.
    ///
    /// # Shapes and errors
    /// As [`ablated`](Self::ablated) and [`logits`](Self::logits).
    pub fn effect(
        &self,
        pass: &Pass<T>,
        heads: &[HeadOfLayer],
        instead: &[Matrix<T>],
    ) -> Result<Effect> {
        let layers = self.ablated(pass, heads, instead)?;
        Ok(Effect {
            next: self.next(&layers)?,
            losses: self.losses_of(&layers, &pass.ids)?,
            moved: moved(&pass.layers.attn, &layers.attn),
        })
    }

    /// The probability of each token of the vocabulary to come behind a text.
    ///
    /// # Shapes
    /// `[n_vocabulary]`.
    ///
    /// # Errors
    /// As [`logits`](Self::logits).
    pub fn next(&self, layers: &Layers<T>) -> Result<Vec<f64>> {
        let last = layers.out().nrows() - 1;
        let logits = self.logits(&layers.out().rows(last, 1).into_owned())?;
        let logits = Mask::None.apply(logits.map(T::to_f64));
        Ok(softmax_rows(logits).iter().copied().collect())
    }
}
