//! How the next token is chosen.

use attention::{Rng, SeedableRng};
use rand::RngExt;

use super::Sampling;
use crate::Result;

/// How the next token is chosen.
#[derive(Debug, Clone)]
pub struct Choice(Option<Chance>);

#[derive(Debug, Clone)]
struct Chance {
    sampling: Sampling,
    rng: Rng,
}

impl Choice {
    /// The most likely: the first of the largest logits.
    pub fn greedy() -> Self {
        Self(None)
    }

    /// By chance, with a seed: token i with the probability softmax(logits / temperature)ᵢ.
    /// At 1 that is what the model learned; less is nearer to greedy.
    ///
    /// # Errors
    /// [`Error::Temperature`](crate::Error::Temperature) for one that is not above 0.
    pub fn sampled(temperature: f64, seed: u64) -> Result<Self> {
        Ok(Self::by(Sampling::default().temperature(temperature)?, seed))
    }

    /// By chance, with a seed: each token with the chance that it has by
    /// [`Sampling::chances`].
    pub fn by(sampling: Sampling, seed: u64) -> Self {
        Self(Some(Chance { sampling, rng: Rng::seed_from_u64(seed) }))
    }

    /// A token's id, or `None` where there is no logit at all, or only NaN.
    ///
    /// # Shapes
    /// `logits` is `[n_vocabulary]`.
    pub fn of(&mut self, logits: &[f64]) -> Option<usize> {
        let ids = (0..logits.len()).filter(|&id| !logits[id].is_nan());
        let larger = |best: usize, id| if logits[id] > logits[best] { id } else { best };
        let best = ids.reduce(larger)?;
        let Some(Chance { sampling, rng }) = &mut self.0 else { return Some(best) };
        let mut left = rng.random::<f64>();
        let drawn = sampling.chances(logits).iter().position(|chance| {
            left -= chance;
            left < 0.0
        });
        // Rounding can leave a rest.
        Some(drawn.unwrap_or(best))
    }
}
