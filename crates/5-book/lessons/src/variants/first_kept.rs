//! A window over a trained layer, with one key kept from everywhere: the first, or another.

use anyhow::Result;
use attention::{Mask, Matrix, MultiHeadAttention};
use model_files::{Sentence, TrainedLayer};
use variants::{Changes, Positions, VariantAttention, Window};

/// How many keys on either side of a token its window has.
pub const SIDE: usize = 2;

/// How far the layer's output on a sentence is from what it is without a window, as a part
/// of its length.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowDistances {
    /// With a window alone.
    pub alone: f64,
    /// With a window, and this key seen from everywhere: one entry per token.
    pub with: Vec<f64>,
}

/// The trained layer on one of its sentences.
///
/// # Errors
/// None; the sentence has the layer's width.
pub fn measure(trained: &TrainedLayer, sentence: &Sentence) -> Result<WindowDistances> {
    let packed = trained.parameters.pack();
    let layer = VariantAttention::from_packed(packed, Changes::default())?;
    let x = &sentence.input;
    let whole = layer.self_attend(x, &Mask::None)?.out;
    let n = x.nrows();
    let window = Window { left: Some(SIDE), right: Some(SIDE), n_sinks: 0 };
    let at = Positions::new(n, n);
    let apart = |kept: Option<usize>| -> Result<f64> {
        let sees = |i: usize, j: usize| {
            kept == Some(j) || window.sees(at.queries[i], at.keys[j])
        };
        let mask = Mask::Allowed(Matrix::from_fn(n, n, sees));
        let out = layer.self_attend(x, &mask)?.out;
        Ok((out - &whole).norm() / whole.norm())
    };
    let with = (0..n).map(|key| apart(Some(key))).collect::<Result<_>>()?;
    Ok(WindowDistances { alone: apart(None)?, with })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trained::layer;

    /// The change says the same as a mask that is made by hand.
    #[test]
    fn a_sink_that_is_kept_is_the_first_key() {
        let trained = layer().unwrap();
        for sentence in &trained.sentences {
            let window = Some(Window { left: Some(SIDE), right: Some(SIDE), n_sinks: 1 });
            let packed = trained.parameters.pack();
            // With `right`, later keys are cut off, sinks too; the first key never lies there
            // but for its own row and the two before, which do not exist.
            let changes = Changes { window, ..Changes::default() };
            let layer = VariantAttention::from_packed(packed, changes).unwrap();
            let out = layer.self_attend(&sentence.input, &Mask::None).unwrap().out;
            let plain = layer.with_changes(Changes::default()).unwrap();
            let whole = plain.self_attend(&sentence.input, &Mask::None).unwrap().out;
            let apart = (out - &whole).norm() / whole.norm();
            let found = measure(trained, sentence).unwrap().with[0];
            assert!((apart - found).abs() < 1e-12, "{apart} {found}");
        }
    }
}
