//! What changes in a text's pass when some heads put out something else.

use attention::{Mask, Matrix, Real, softmax_rows};
use block::Layers;
use training::total_variation;

use super::Head;
use crate::decoder::AsRead;
use crate::{Pass, Result};

/// What a pass says of a text, beside the whole model's pass.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The probability of each token of the vocabulary to come next.
    pub next: Vec<f64>,
    /// The loss of each token of the text but the first, in nats.
    pub losses: Vec<f64>,
    /// How far each head's map moved, `[layer][head]`: see [`total_variation`].
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
    pub fn later_moved(&self, heads: &[Head]) -> f64 {
        later_moved(&self.moved, heads)
    }
}

/// How far each head's map is from that of another pass, `[layer][head]`: see
/// [`total_variation`].
pub fn moved<T: Real>(whole: &Layers<T>, less: &Layers<T>) -> Vec<Vec<f64>> {
    let maps = whole.attn.iter().zip(&less.attn);
    let of_layer = |(whole, less): (&Vec<Matrix<T>>, &Vec<Matrix<T>>)| {
        whole.iter().zip(less).map(|(a, b)| total_variation(a, b)).collect()
    };
    maps.map(of_layer).collect()
}

/// The mean of that over the layers above the lowest of some heads; NaN where there is none.
pub fn later_moved(moved: &[Vec<f64>], heads: &[Head]) -> f64 {
    let later = later(heads, moved.len()).flat_map(|layer| moved[layer].iter().copied());
    let later: Vec<f64> = later.collect();
    later.iter().sum::<f64>() / later.len() as f64
}

/// The layers above the lowest of some heads: their maps can move, and no others.
pub fn later(heads: &[Head], n_layers: usize) -> std::ops::Range<usize> {
    let lowest = heads.iter().map(|(layer, _)| *layer).min().unwrap_or(n_layers);
    (lowest + 1).min(n_layers)..n_layers
}

impl<T: Real> AsRead<T> {
    /// What a text becomes if some heads put out something else; with no heads, what it is.
    ///
    /// # Shapes
    /// As [`replaced`](Self::replaced).
    ///
    /// # Errors
    /// As [`replaced`](Self::replaced) and [`logits`](Self::logits).
    pub fn effect(
        &self,
        pass: &Pass<T>,
        heads: &[Head],
        instead: &[Matrix<T>],
    ) -> Result<Effect> {
        let layers = self.replaced(pass, heads, instead)?;
        Ok(Effect {
            next: self.next(&layers)?,
            losses: self.losses_of(&layers, &pass.ids)?,
            moved: moved(&pass.layers, &layers),
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
