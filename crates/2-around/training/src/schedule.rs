//! What every training keeps to: how long, how fast, and which random numbers.

use attention::{Error, Result, Rng, SeedableRng};
use rand::RngExt;

/// How long, how fast, and with which seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// The number of steps.
    pub n_steps: usize,
    /// Examples a step, drawn anew each time.
    pub batch: usize,
    /// How far a step of Adam goes at first; it falls to 0 in a straight line.
    pub rate: f64,
    /// Where all random numbers come from: parameters, batches and the test set, each
    /// from a stream of its own.
    pub seed: u64,
    /// Examples of the test set.
    pub n_test: usize,
    /// How many times the test set is looked at along the way.
    pub n_looks: usize,
}

impl Schedule {
    /// What [`Repeats`](crate::repeats::Repeats) takes: 1,500 steps of 32 sequences.
    pub fn usual(seed: u64) -> Self {
        Self { n_steps: 1500, batch: 32, rate: 0.003, seed, n_test: 200, n_looks: 30 }
    }

    /// What the small world takes: 800 steps of 32 sequences.
    pub fn small(seed: u64) -> Self {
        Self { n_steps: 800, rate: 0.005, n_looks: 20, ..Self::usual(seed) }
    }

    pub(crate) fn check(&self) -> Result<()> {
        let Self { n_steps, batch, n_test, rate, .. } = *self;
        Error::expect_positive("the number of steps", n_steps)?;
        Error::expect_positive("the number of examples a step", batch)?;
        Error::expect_positive("the number of test examples", n_test)?;
        Error::expect_above_zero("the rate", rate)
    }

    /// How far a step goes after so many steps.
    pub(crate) fn rate_at(&self, step: usize) -> f64 {
        self.rate * (1.0 - step as f64 / self.n_steps as f64)
    }

    /// The looks are spread evenly, and the last is at the end.
    pub(crate) fn is_look_due(&self, n_taken: usize) -> bool {
        let looks_by = |n_taken: usize| n_taken * self.n_looks / self.n_steps;
        n_taken == self.n_steps || looks_by(n_taken) > looks_by(n_taken - 1)
    }
}

/// The random streams of one seed, of parameters, batches and the test set: so a longer
/// training has the same test set, and another batch size the same parameters.
pub(crate) fn streams(seed: u64) -> [Rng; 3] {
    let root = &mut Rng::seed_from_u64(seed);
    [(); 3].map(|()| Rng::seed_from_u64(root.random()))
}
