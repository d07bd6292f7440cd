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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_the_largest_is_chosen() {
        let mut greedy = Choice::greedy();
        assert_eq!(greedy.of(&[1.0, 3.0, f64::NAN, 3.0]), Some(1));
        assert_eq!(greedy.of(&[f64::NAN]), None);
        assert_eq!(greedy.of(&[]), None);
    }

    #[test]
    fn chance_follows_softmax_and_the_seed() {
        let logits = [0.0, f64::NEG_INFINITY, 3f64.ln(), f64::NAN];
        for (temperature, expected) in [(1.0, 0.75), (0.5, 0.9), (1e-3, 1.0)] {
            let draw = |seed| {
                let mut choice = Choice::sampled(temperature, seed).unwrap();
                (0..4000).map(|_| choice.of(&logits).unwrap()).collect::<Vec<_>>()
            };
            let drawn = draw(1);
            assert!(drawn.iter().all(|&id| id == 0 || id == 2));
            let share = drawn.iter().filter(|&&id| id == 2).count() as f64 / 4000.0;
            assert!((share - expected).abs() < 0.03, "{temperature}: {share}");
            assert_eq!(drawn, draw(1));
        }
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Choice::sampled(wrong, 1).is_err());
        }
        let refused = Choice::sampled(0.0, 1).unwrap_err();
        insta::assert_snapshot!(refused, @"the temperature is 0, expected a number above 0");
    }
}
