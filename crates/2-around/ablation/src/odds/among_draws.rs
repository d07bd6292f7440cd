//! A number beside its random draws.

use attention::median;

use super::rank_p;

/// A number that was measured, and the same of random draws: its control.
///
/// ```
/// use ablation::odds::BesideDraws;
///
/// let effect = BesideDraws { observed: 0.9, draws: vec![0.1, 0.4, 0.2] };
/// assert_eq!(effect.n_below(), 3);
/// assert_eq!((effect.median(), effect.range()), (0.2, [0.1, 0.4]));
/// assert_eq!(effect.p(), 0.25); // three draws cannot say less
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BesideDraws {
    /// What was measured.
    pub observed: f64,
    /// What each draw gives.
    pub draws: Vec<f64>,
}

impl BesideDraws {
    /// How many draws the number is above.
    pub fn n_below(&self) -> usize {
        self.draws.iter().filter(|&&draw| draw < self.observed).count()
    }

    /// The median of the draws; NaN of none.
    pub fn median(&self) -> f64 {
        median(self.draws.iter().copied())
    }

    /// The smallest and the largest draw; infinities of none.
    pub fn range(&self) -> [f64; 2] {
        let draws = || self.draws.iter().copied();
        [draws().fold(f64::INFINITY, f64::min), draws().fold(f64::NEG_INFINITY, f64::max)]
    }

    /// As [`rank_p`].
    pub fn p(&self) -> f64 {
        rank_p(self.observed, &self.draws)
    }
}
