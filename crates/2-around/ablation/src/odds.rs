//! How often chance alone would give as much: the p and the interval beside a count, and
//! where a number stands among its random draws.
//!
//! ```
//! use ablation::odds::{Count, sign_test};
//!
//! // "Three of ten trained layers have such a head, and none of ten fresh ones."
//! let (trained, fresh) = (Count::new(3, 10)?, Count::new(0, 10)?);
//! assert_eq!(format!("{trained}, p = {:.2}", trained.fisher(fresh)), "3 of 10, p = 0.21");
//! // Of six pairs that move, six move the same way.
//! assert!((sign_test(6, 0) - 2.0 * 0.5f64.powi(6)).abs() < 1e-12);
//! # Ok::<(), attention::Error>(())
//! ```
//!
//! All of it is exact but the interval. Each test is two-sided, and each assumes that what is
//! counted is independent: two heads of one model, or one pair of sentences seen by five
//! heads, are not.

mod among_draws;

use attention::{Error, Result};
use std::fmt;

pub use among_draws::BesideDraws;

/// So many of so many; it prints as `3 of 10`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    hits: usize,
    n: usize,
}

impl Count {
    /// `hits` of `n`.
    ///
    /// # Errors
    /// [`Error::Count`] if there are more hits than there are.
    pub fn new(hits: usize, n: usize) -> Result<Self> {
        if hits <= n { Ok(Self { hits, n }) } else { Err(Error::Count { hits, n }) }
    }

    /// How many are true.
    pub fn of(each: impl IntoIterator<Item = bool>) -> Self {
        each.into_iter().fold(Self { hits: 0, n: 0 }, |count, is| Self {
            hits: count.hits + usize::from(is),
            n: count.n + 1,
        })
    }

    /// How many there are that count.
    pub fn hits(self) -> usize {
        self.hits
    }

    /// Of how many.
    pub fn n(self) -> usize {
        self.n
    }

    /// hits / n; NaN of none.
    pub fn share(self) -> f64 {
        self.hits as f64 / self.n as f64
    }

    /// Between what shares the true one lies, in 95 of 100 such counts: Wilson's score
    /// interval, `(p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n)` with z = 1.96. Of none,
    /// 0 to 1.
    ///
    /// # Source
    /// Wilson 1927, without correction for continuity.
    pub fn interval(self) -> [f64; 2] {
        if self.n == 0 {
            return [0.0, 1.0];
        }
        let (n, p, z) = (self.n as f64, self.share(), 1.959_963_984_540_054);
        let (centre, square) = (p + z * z / (2.0 * n), z * z / (4.0 * n * n));
        let reach = z * (p * (1.0 - p) / n + square).sqrt();
        let end = |end: f64| (end / (1.0 + z * z / n)).clamp(0.0, 1.0);
        [end(centre - reach), end(centre + reach)]
    }

    /// How often two counts would differ as unlikely as these two, or more so, if one
    /// chance were behind both: Fisher's exact test, two-sided.
    ///
    /// # Source
    /// Fisher 1935: the sum over all tables with these margins that are no more likely.
    pub fn fisher(self, other: Self) -> f64 {
        let (n, hits) = (self.n + other.n, self.hits + other.hits);
        let ln = |k: usize| {
            ln_choose(self.n, k) + ln_choose(other.n, hits - k) - ln_choose(n, hits)
        };
        // Equal likelihoods may differ by rounding.
        let most = ln(self.hits) + 1e-9;
        let tables = hits.saturating_sub(other.n)..=hits.min(self.n);
        tables.map(ln).filter(|&ln| ln <= most).map(f64::exp).sum::<f64>().min(1.0)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.hits, self.n)
    }
}

/// How often as uneven a split, or a more uneven one, would come of a fair coin:
/// `2 Σ_{k ≤ least} C(n, k) / 2ⁿ`, and at most 1. Ties are left out beforehand.
///
/// # Source
/// The sign test, two-sided (Arbuthnot 1710).
pub fn sign_test(up: usize, down: usize) -> f64 {
    let n = up + down;
    let likely = |k: usize| (ln_choose(n, k) - n as f64 * 2f64.ln()).exp();
    (2.0 * (0..=up.min(down)).map(likely).sum::<f64>()).min(1.0)
}

/// How often a draw of chance is at least as large as the number observed, which counts as
/// one draw: `(1 + #{draw ≥ observed}) / (1 + n)`. It is never below `1 / (1 + n)`, however
/// far the number lies: ten draws cannot say less than .09.
///
/// # Source
/// Phipson and Smyth 2010.
pub fn rank_p(observed: f64, draws: &[f64]) -> f64 {
    // Counted from below, so that what is no number speaks against the observed.
    let below = draws.iter().filter(|&&draw| draw < observed).count();
    (1 + draws.len() - below) as f64 / (1 + draws.len()) as f64
}

/// How many standard deviations of the draws a number lies above their mean; NaN of fewer
/// than two draws.
pub fn z_score(observed: f64, draws: &[f64]) -> f64 {
    let n = draws.len() as f64;
    let mean = draws.iter().sum::<f64>() / n;
    let squares = draws.iter().map(|draw| (draw - mean) * (draw - mean));
    (observed - mean) / (squares.sum::<f64>() / (n - 1.0)).sqrt()
}

/// How many times the odds of one share are those of another: `p/(1−p) : q/(1−q)`.
///
/// Twice a share above one half is more than there is. Twice the odds are always to be had:
/// those of .75 are twice those of .6. NaN of what is no share.
pub fn odds_ratio(p: f64, q: f64) -> f64 {
    let odds = |p: f64| if (0.0..=1.0).contains(&p) { p / (1.0 - p) } else { f64::NAN };
    odds(p) / odds(q)
}

/// `ln (n! / (k! (n − k)!))`, for k ≤ n.
fn ln_choose(n: usize, k: usize) -> f64 {
    let k = k.min(n - k);
    (1..=k).map(|i| ((n - k + i) as f64 / i as f64).ln()).sum()
}

#[cfg(test)]
mod tests;
