//! Sequences that repeat after a period that is drawn anew for each.

use std::ops::RangeInclusive;

use attention::{Error, Result, Rng};
use rand::RngExt;
use rand::seq::SliceRandom;

/// Random tokens, repeated: the first `period` tokens of a sequence are all different, and
/// from there on it begins again.
///
/// The period is random too, so a position alone does not tell where to look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeats {
    /// The number of different tokens.
    pub n_vocabulary: usize,
    /// The number of tokens that a model reads.
    pub n_tokens: usize,
    /// The shortest and the longest period.
    pub periods: RangeInclusive<usize>,
    /// How many tokens stand before the first period and never come back.
    pub n_distractors: usize,
}

impl Repeats {
    /// A small world, for a training of a second or two: 16 tokens, sequences of 16,
    /// periods of 4 to 8.
    pub fn small() -> Self {
        Self { n_vocabulary: 16, n_tokens: 16, periods: 4..=8, n_distractors: 0 }
    }
}

impl Default for Repeats {
    /// 32 tokens, sequences of 24, periods of 6 to 12, no distractors.
    fn default() -> Self {
        Self { n_vocabulary: 32, n_tokens: 24, periods: 6..=12, n_distractors: 0 }
    }
}

/// Sequences with what comes next at each of their tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequences {
    /// What is read, `[n_sequences · n_tokens]`.
    pub ids: Vec<usize>,
    /// What comes next at each, `[n_sequences · n_tokens]`.
    pub next: Vec<usize>,
    /// The period of each sequence.
    pub periods: Vec<usize>,
    /// The number of tokens of each.
    pub n_tokens: usize,
    /// How many of them stand before the first period.
    pub n_distractors: usize,
}

impl Repeats {
    /// So many fresh sequences.
    ///
    /// # Errors
    /// [`Error`] for none; [`Error::Periods`].
    pub fn draw(&self, n_sequences: usize, rng: &mut Rng) -> Result<Sequences> {
        self.check(n_sequences)?;
        let mut tokens: Vec<usize> = (0..self.n_vocabulary).collect();
        let (mut ids, mut next, mut periods) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..n_sequences {
            let period = rng.random_range(self.periods.clone());
            tokens.shuffle(rng);
            let (distractors, others) = tokens.split_at(self.n_distractors);
            let pattern = &others[..period]; // all different
            let token = |t: usize| match t.checked_sub(self.n_distractors) {
                Some(since) => pattern[since % period],
                None => distractors[t],
            };
            ids.extend((0..self.n_tokens).map(token));
            next.extend((1..=self.n_tokens).map(token));
            periods.push(period);
        }
        let Self { n_tokens, n_distractors, .. } = *self;
        Ok(Sequences { ids, next, periods, n_tokens, n_distractors })
    }

    fn check(&self, n_sequences: usize) -> Result<()> {
        Error::expect_positive("the number of sequences", n_sequences)?;
        Error::expect_positive("the number of tokens", self.n_tokens)?;
        let (shortest, longest) = (*self.periods.start(), *self.periods.end());
        let n_vocabulary = self.n_vocabulary.saturating_sub(self.n_distractors);
        if (1..=longest).contains(&shortest) && longest <= n_vocabulary {
            return Ok(());
        }
        Err(Error::Periods { shortest, longest, n_vocabulary })
    }
}

impl Sequences {
    /// The number of sequences.
    pub fn n_sequences(&self) -> usize {
        self.periods.len()
    }

    /// The places, as rows of all tokens, at which what comes next can be known: those
    /// whose token has appeared before.
    pub fn known(&self) -> impl Iterator<Item = usize> {
        let n = self.n_tokens;
        let of = move |(s, period): (usize, &usize)| {
            (s * n + (self.n_distractors + period).min(n))..(s + 1) * n
        };
        self.periods.iter().enumerate().flat_map(of)
    }

    /// The share of right answers among those that can be known.
    ///
    /// # Shapes
    /// `said` is `[n_sequences · n_tokens]`, an id each.
    pub fn score(&self, said: &[usize]) -> f64 {
        let known: Vec<usize> = self.known().collect();
        let right = known.iter().filter(|&&row| said[row] == self.next[row]).count();
        right as f64 / known.len().max(1) as f64
    }

    /// The same sequences if their distractors came back: in their place stand the tokens
    /// that the repetition would have there. The places that count are the same, so what a
    /// model does worse on `self` is due to the distractors, and not to where things stand.
    pub fn without_distractors(&self) -> Self {
        let mut same = self.clone();
        for (s, period) in self.periods.iter().enumerate() {
            let first = s * self.n_tokens;
            let ends = self.n_distractors.min(self.n_tokens.saturating_sub(*period));
            for row in (first..first + ends).rev() {
                same.ids[row] = self.ids[row + period];
                same.next[row] = self.next[row + period];
            }
        }
        same
    }

    /// Counts the wrong answers among those that can be known.
    ///
    /// # Shapes
    /// As [`score`](Self::score).
    pub fn mistakes(&self, said: &[usize]) -> Mistakes {
        let wrong: Vec<usize> =
            self.known().filter(|&row| said[row] != self.next[row]).collect();
        let names_one = |&&row: &&usize| {
            let first = row / self.n_tokens * self.n_tokens;
            self.ids[first..first + self.n_distractors].contains(&said[row])
        };
        Mistakes { all: wrong.len(), distractors: wrong.iter().filter(names_one).count() }
    }
}

/// Wrong answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mistakes {
    /// How many.
    pub all: usize,
    /// How many of them name a distractor.
    pub distractors: usize,
}
