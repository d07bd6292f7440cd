//! Which tokens may be drawn, and with what chance: temperature, top-k and top-p.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{Error, Result};

/// How the chances of the next token are made of its logits.
///
/// Softmax gives every token of the vocabulary a chance, and the many that have nearly none have
/// much of it together. Top-k and top-p leave the tail out:
///
/// 1. the **temperature** T makes logits / T of them, of which the softmax is taken;
/// 2. **top-k** leaves the k most likely tokens;
/// 3. **top-p** leaves the nucleus: the fewest of the most likely tokens whose chances among
///    those left add up to p or more;
///
/// and the chances of what is left are divided by their sum.
///
/// ```
/// use models::Sampling;
///
/// let logits = [8f64, 4.0, 2.0, 1.0, 1.0].map(f64::ln); // chances 1/2, 1/4, 1/8, 1/16, 1/16
/// let near = |chances: &[f64], expected: [f64; 5]| {
///     chances.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12)
/// };
/// let plain = Sampling::default();
/// assert!(near(&plain.chances(&logits), [0.5, 0.25, 0.125, 0.0625, 0.0625]));
/// let three = plain.top_k(3)?;
/// assert!(near(&three.chances(&logits), [4.0 / 7.0, 2.0 / 7.0, 1.0 / 7.0, 0.0, 0.0]));
/// let nucleus = plain.top_p(0.7)?; // 1/2 is less, 1/2 + 1/4 is enough
/// assert!(near(&nucleus.chances(&logits), [2.0 / 3.0, 1.0 / 3.0, 0.0, 0.0, 0.0]));
/// # Ok::<(), models::Error>(())
/// ```
///
/// # Source
/// Fan et al. 2018, section 5.3 (top-k); Holtzman et al. 2020, section 3.1 (top-p). The order
/// and the edges are those of transformers' `generate`, whose numbers a test compares: the token
/// with which the sum reaches p is in the nucleus, top-p sees the chances that top-k leaves, and
/// the most likely token always stays. Two things differ. Of equally likely tokens the lower id
/// goes first here, so that exactly k are left; transformers' top-k leaves all that are as
/// likely as the k-th, and its top-p promises no order. And p = 0 is refused here; there it
/// leaves the most likely token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    temperature: f64,
    top_k: Option<usize>,
    top_p: f64,
}

impl Default for Sampling {
    /// The softmax of the logits, as the model learned it: temperature 1, and no token left out.
    fn default() -> Self {
        Self { temperature: 1.0, top_k: None, top_p: 1.0 }
    }
}

impl Sampling {
    /// The same at another temperature: less is nearer to the most likely token, more is nearer
    /// to equal chances.
    ///
    /// # Errors
    /// [`Error::Temperature`] for one that is not above 0.
    pub fn temperature(self, temperature: f64) -> Result<Self> {
        match temperature.is_finite() && temperature > 0.0 {
            true => Ok(Self { temperature, ..self }),
            false => Err(Error::Temperature { found: temperature }),
        }
    }

    /// The same with the k most likely tokens alone; all of them, where there are no more.
    ///
    /// # Errors
    /// [`Error::TopK`] for none.
    pub fn top_k(self, k: usize) -> Result<Self> {
        match k > 0 {
            true => Ok(Self { top_k: Some(k), ..self }),
            false => Err(Error::TopK { found: k }),
        }
    }

    /// The same with the nucleus of p alone; at 1 no token is left out.
    ///
    /// # Errors
    /// [`Error::TopP`] for a number that is not above 0 and at most 1.
    pub fn top_p(self, p: f64) -> Result<Self> {
        match p > 0.0 && p <= 1.0 {
            true => Ok(Self { top_p: p, ..self }),
            false => Err(Error::TopP { found: p }),
        }
    }

    /// The chance of every token: 0 for those that are left out, and for a logit that is minus
    /// infinity or NaN. They add up to 1, or are all 0 where there is no other logit.
    ///
    /// # Shapes
    /// `logits` and the result are `[n_vocabulary]`.
    // ANCHOR: chances
    pub fn chances(&self, logits: &[f64]) -> Vec<f64> {
        let mut chances = softmax(logits, self.temperature);
        if let Some(k) = self.top_k {
            keep_likely(&mut chances, |nth, _| nth < k);
        }
        if self.top_p < 1.0 {
            // As long as those before it are not enough.
            keep_likely(&mut chances, |_, before| before < self.top_p);
        }
        chances
    }
    // ANCHOR_END: chances
}

/// softmax(logits / temperature). An infinite logit has all, with others like it.
fn softmax(logits: &[f64], temperature: f64) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weight = |&logit: &f64| match logit {
        _ if logit.is_nan() || logit == f64::NEG_INFINITY => 0.0,
        _ if logit == largest => 1.0,
        _ => ((logit - largest) / temperature).exp(),
    };
    let mut chances: Vec<f64> = logits.iter().map(weight).collect();
    divide_by_sum(&mut chances);
    chances
}

/// Keeps the most likely tokens as long as `is_kept` says so, of how many are more likely and of
/// the sum of their chances; the chances of all others become 0.
// ANCHOR: keep_likely
fn keep_likely(chances: &mut [f64], is_kept: impl Fn(usize, f64) -> bool) {
    let possible = (0..chances.len()).filter(|&id| chances[id] > 0.0);
    // Bits of positive numbers are in their order; of equal chances the lower id comes first.
    let by_chance = possible.map(|id| (chances[id].to_bits(), Reverse(id)));
    // Few are ever taken from the heap, and the others need not be sorted.
    let mut likely: BinaryHeap<_> = by_chance.collect();
    chances.fill(0.0);
    let (mut nth, mut before) = (0, 0.0);
    while let Some((bits, Reverse(id))) = likely.pop()
        && is_kept(nth, before)
    {
        chances[id] = f64::from_bits(bits);
        nth += 1;
        before += chances[id];
    }
    divide_by_sum(chances);
}
// ANCHOR_END: keep_likely

fn divide_by_sum(chances: &mut [f64]) {
    let sum: f64 = chances.iter().sum();
    if sum > 0.0 {
        chances.iter_mut().for_each(|chance| *chance /= sum);
    }
}

#[cfg(test)]
mod tests;
