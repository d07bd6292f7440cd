//! A model that writes: one token after the other, each read before the next is chosen.

use attention::{Real, Rng, SeedableRng};
use block::Layers;
use rand::RngExt;
use variants::Cache;

use crate::decoders::decoder::AsRead;
use crate::{Error, Result};

/// What reads tokens and has logits for the next.
///
/// A model with its caches is one ([`Reader`]); a fast engine is another.
pub trait Predict {
    /// The logits after these tokens, which follow all that were read before.
    ///
    /// # Shapes
    /// `[n_vocabulary]`.
    ///
    /// # Errors
    /// For ids or positions that the model does not have.
    fn predict(&mut self, ids: &[usize]) -> Result<Vec<f64>>;
}

/// A text that is being read: a model, and a cache per layer.
#[derive(Debug, Clone)]
pub struct Reader<'a, T: Real = f64> {
    model: &'a AsRead<T>,
    caches: Vec<Cache<T>>,
    last: Option<Layers<T>>,
}

impl<'a, T: Real> Reader<'a, T> {
    /// At the start of a text.
    pub fn new(model: &'a AsRead<T>) -> Self {
        Self { model, caches: model.caches(), last: None }
    }

    /// Hidden states and maps of the tokens that were read last.
    pub fn last(&self) -> Option<&Layers<T>> {
        self.last.as_ref()
    }

    /// The caches.
    pub fn caches(&self) -> &[Cache<T>] {
        &self.caches
    }
}

impl<T: Real> Predict for Reader<'_, T> {
    fn predict(&mut self, ids: &[usize]) -> Result<Vec<f64>> {
        let layers = self.model.forward_cached(ids, &mut self.caches)?;
        let last = layers.out().nrows() - 1;
        let logits = self.model.logits(&layers.out().rows(last, 1).into_owned())?;
        self.last = Some(layers);
        Ok(logits.iter().map(|logit| logit.to_f64()).collect())
    }
}

/// How the next token is chosen.
#[derive(Debug, Clone)]
pub struct Choice(Option<Chance>);

#[derive(Debug, Clone)]
struct Chance {
    temperature: f64,
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
    /// [`Error::Temperature`] for one that is not above 0.
    pub fn sampled(temperature: f64, seed: u64) -> Result<Self> {
        match temperature.is_finite() && temperature > 0.0 {
            true => Ok(Self(Some(Chance { temperature, rng: Rng::seed_from_u64(seed) }))),
            false => Err(Error::Temperature { found: temperature }),
        }
    }

    /// A token's id, or `None` where there is no logit at all, or only NaN.
    ///
    /// # Shapes
    /// `logits` is `[n_vocabulary]`.
    pub fn of(&mut self, logits: &[f64]) -> Option<usize> {
        let ids = || (0..logits.len()).filter(|&id| !logits[id].is_nan());
        let larger = |best: usize, id| if logits[id] > logits[best] { id } else { best };
        let best = ids().reduce(larger)?;
        let Some(Chance { temperature, rng }) = &mut self.0 else { return Some(best) };
        let weight = |id: usize| ((logits[id] - logits[best]) / *temperature).exp();
        let mut left = rng.random::<f64>() * ids().map(weight).sum::<f64>();
        let crossed = ids().find(|&id| {
            left -= weight(id);
            left < 0.0
        });
        // Rounding can leave a rest.
        Some(crossed.unwrap_or(best))
    }
}

/// Tokens, one after the other, without end: the caller stops, for example at one of
/// [`Config::ends`](crate::decoders::Config::ends).
///
/// Each token is read when the next is asked for, so that the last of a text never is. After
/// an error, at the end of the model's positions for example, nothing more comes.
#[derive(Debug, Clone)]
pub struct Writer<P> {
    reader: P,
    choice: Choice,
    unread: Vec<usize>,
}

impl<P: Predict> Writer<P> {
    /// Goes on behind a text.
    pub fn new(reader: P, text: &[usize], choice: Choice) -> Self {
        Self { reader, choice, unread: text.to_vec() }
    }

    /// What reads, and has read all but the last token.
    pub fn reader(&self) -> &P {
        &self.reader
    }
}

impl<P: Predict> Iterator for Writer<P> {
    type Item = Result<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let unread = std::mem::take(&mut self.unread);
        if unread.is_empty() {
            return None;
        }
        let logits = match self.reader.predict(&unread) {
            Ok(logits) => logits,
            Err(error) => return Some(Err(error)),
        };
        // Minus infinity is a token that is never chosen.
        let is_none = |logit: &&f64| logit.is_nan() || **logit == f64::INFINITY;
        let (found, n_logits) = (logits.iter().filter(is_none).count(), logits.len());
        if found > 0 {
            return Some(Err(Error::Logits { found, n_logits }));
        }
        let id = self.choice.of(&logits)?;
        self.unread = vec![id];
        Some(Ok(id))
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

    /// Counts what it reads, and fails at the fifth token.
    struct Counter(usize);

    impl Predict for Counter {
        fn predict(&mut self, ids: &[usize]) -> Result<Vec<f64>> {
            self.0 += ids.len();
            match self.0 < 5 {
                true => Ok((0..9).map(|id| f64::from(u8::from(id == self.0))).collect()),
                false => Err(Error::Temperature { found: 0.0 }),
            }
        }
    }

    #[test]
    fn a_writer_reads_each_token_once_and_stops_at_an_error() {
        let writer = Writer::new(Counter(0), &[7, 7], Choice::greedy());
        let found: Vec<_> = writer.map(Result::ok).collect();
        assert_eq!(found, [Some(2), Some(3), Some(4), None]);
        assert_eq!(Writer::new(Counter(0), &[], Choice::greedy()).count(), 0);
    }
}
