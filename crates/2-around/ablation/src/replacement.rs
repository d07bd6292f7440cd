//! What to put in the stead of a part of the concatenation.

use attention::{Matrix, Rng};
use rand::RngExt;

/// What an ablated part is replaced by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replacement {
    /// Zeros. The readout has never seen zeros there, so some of the harm may be surprise.
    Zero,
    /// The mean of the part over all examples: what it usually is.
    Mean,
    /// The part as it is in another example: as it may well be, and wrong.
    Resample,
}

impl Replacement {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Zero, Self::Mean, Self::Resample];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zero => "zero",
            Self::Mean => "mean",
            Self::Resample => "resample",
        }
    }

    // ANCHOR: instead
    /// What replaces a part.
    ///
    /// # Shapes
    /// `part` and the result are `[n_examples, n]`.
    pub fn instead(self, part: &Matrix<f32>, rng: &mut Rng) -> Matrix<f32> {
        let (n_examples, n) = part.shape();
        match self {
            Self::Zero => Matrix::zeros(n_examples, n),
            Self::Mean => Matrix::from_rows(&vec![part.row_mean(); n_examples]),
            Self::Resample => part.select_rows(&others(n_examples, rng)),
        }
    }
    // ANCHOR_END: instead
}

/// For each example another one, each once: a random permutation in one cycle, so that
/// none stays where it is.
fn others(n_examples: usize, rng: &mut Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n_examples).collect();
    for last in (1..n_examples).rev() {
        order.swap(last, rng.random_range(0..last));
    }
    order
}

#[cfg(test)]
mod tests {
    use attention::SeedableRng;

    use super::*;

    #[test]
    fn every_example_gets_another_one_and_each_is_used_once() {
        for seed in 0..50 {
            let order = others(8, &mut Rng::seed_from_u64(seed));
            assert!(order.iter().enumerate().all(|(s, &t)| s != t), "{seed}: {order:?}");
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq(0..8), "{seed}: {order:?}");
        }
        assert_eq!(others(1, &mut Rng::seed_from_u64(0)), [0], "there is no other");
    }
}
