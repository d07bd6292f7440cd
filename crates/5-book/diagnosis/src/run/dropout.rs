//! Dropout, told from the map that the code itself made.

use attention::Matrix;

use super::{Forward, Run};
use crate::State;
use crate::recipe::Recipe;

impl Forward<'_> {
    /// Weights as dropout leaves them: 0 where the record's own map is, and the others by one
    /// factor too large; nothing where they are not so.
    pub(super) fn drop(&self, attn: &mut [Matrix]) -> Option<()> {
        self.record.tensors.get(&State::Attn)?;
        let given = self.read(State::Attn)?;
        let factor = 1.0 / (1.0 - dropped(attn, &given)?);
        for (attn, given) in attn.iter_mut().zip(given.iter()) {
            attn.zip_apply(given, |weight, given| {
                *weight = if given == 0.0 { 0.0 } else { *weight * factor };
            });
        }
        Some(())
    }
}

impl Run<'_> {
    /// The share of weights that dropout took from the record's map, if it did.
    pub(crate) fn dropped(&self) -> Option<f64> {
        let attn = self.step(State::Attn, &Recipe::RIGHT)?;
        dropped(&attn, self.record.tensors.get(&State::Attn)?)
    }
}

/// The p of dropout that made a map of another: zeros, about as many as p says, and the rest
/// by 1 / (1 − p) larger; whether it is by that factor alone is not looked at.
fn dropped(attn: &[Matrix], given: &[Matrix]) -> Option<f64> {
    const FEWEST: f64 = 16.0;
    if attn.len() != given.len() {
        return None;
    }
    let (mut zeros, mut n, mut product, mut squares) = (0.0, 0.0, 0.0, 0.0);
    for (attn, given) in attn.iter().zip(given) {
        if attn.shape() != given.shape() {
            return None;
        }
        for (&weight, &given) in
            attn.iter().zip(given).filter(|(weight, _)| **weight > 0.0)
        {
            n += 1.0;
            if given == 0.0 {
                zeros += 1.0;
            } else {
                product += given * weight;
                squares += weight * weight;
            }
        }
    }
    let p = 1.0 - squares / product;
    // Five times as far as chance takes the share of zeros from p.
    let near = 5.0 * (p * (1.0 - p) / n).sqrt();
    let is_share = p > 0.0 && p < 1.0 && (zeros / n - p).abs() <= near;
    (is_share && zeros > 0.0 && n - zeros >= FEWEST).then_some(p)
}
