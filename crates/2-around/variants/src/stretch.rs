//! Rotary positions, stretched for texts longer than those of the training.
//!
//! In the line `R_t` rotates pair p by `t · θ_p`, the frequencies θ become smaller. **Why.**
//! A slow pair goes through a small part of its circle in the texts of the training, and in
//! longer ones it meets angles that no weight has learned. **Buys** that a text s times as
//! long stays within the angles that are known. **Costs** that neighbours are turned against
//! each other by less than the weights have learned; interpolation pays it in every pair,
//! the other two only in those that need it.

use attention::{Error, Result};
use std::f64::consts::TAU;

use crate::Rotary;

const FACTOR: &str = "the factor by which positions are stretched";

impl Rotary {
    /// Position interpolation: `θ_p / s` in every pair, as if positions stood s times as
    /// dense.
    ///
    /// # Errors
    /// [`Error`] for a factor that is not above 0.
    ///
    /// # Source
    /// Chen et al. 2023, "Extending Context Window of Large Language Models via Positional
    /// Interpolation", equation 4.
    // ANCHOR: stretched
    pub fn interpolated(self, factor: f64) -> Result<Self> {
        self.slowed(factor, |_| 1.0 / factor)
    }

    /// NTK-aware: `θ_p · s^(−p / (P − 1))` of P pairs, the fastest as it was and the slowest
    /// slowed by s. The same as another base, `base · s^(n / (n − 2))` for n = 2 P.
    ///
    /// # Errors
    /// As [`interpolated`](Self::interpolated).
    ///
    /// # Source
    /// Peng et al. 2023, "YaRN", definition 1, who name u/bloc97's post of the same year.
    pub fn ntk_aware(self, factor: f64) -> Result<Self> {
        let last = (self.frequencies.len().max(2) - 1) as f64;
        self.slowed(factor, |p| factor.powf(-(p as f64) / last))
    }

    /// YaRN: pairs before the first end stay, those behind the second are interpolated, those
    /// between in part; and rotated entries are `0.1 ln s + 1` times as large.
    ///
    /// # Errors
    /// As [`interpolated`](Self::interpolated).
    ///
    /// # Source
    /// Peng et al. 2023, sections 3.2 and 3.4. Differs: as in their code, the part grows with
    /// the number of the pair, and not with its rounds.
    pub fn yarn(self, [first, second]: [f64; 2], factor: f64) -> Result<Self> {
        let slowed = |p: usize| ((p as f64 - first) / (second - first)).clamp(0.0, 1.0);
        let amplitude = self.amplitude * yarn_amplitude(factor, 1.0);
        let rotary = self.slowed(factor, |p| slowed(p) / factor + (1.0 - slowed(p)))?;
        Ok(Self { amplitude, ..rotary })
    }
    // ANCHOR_END: stretched

    /// Each frequency times its part, which is at most 1 where the factor is at least 1.
    fn slowed(mut self, factor: f64, part: impl Fn(usize) -> f64) -> Result<Self> {
        Error::expect_above_zero(FACTOR, factor)?;
        for (p, frequency) in self.frequencies.iter_mut().enumerate() {
            *frequency *= part(p);
        }
        Ok(self)
    }
}

/// How often a pair goes round within the texts of the training, at the two ends of
/// [YaRN](Rotary::yarn)'s ramp: faster pairs stay, slower ones are interpolated.
pub const YARN_ROUNDS: [f64; 2] = [32.0, 1.0];

/// The two ends of [YaRN](Rotary::yarn)'s ramp, as numbers of pairs: those that go round so
/// often within `trained` positions; `whole` rounds them to whole pairs.
///
/// # Source
/// `find_correction_range` of <https://github.com/jquesnelle/yarn>, with the option of
/// transformers 5 not to round.
pub fn yarn_ends(
    base: f64,
    n_rotated: usize,
    trained: f64,
    rounds: [f64; 2],
    whole: bool,
) -> [f64; 2] {
    let n = n_rotated as f64;
    let [mut first, mut second] =
        rounds.map(|rounds| n * (trained / (rounds * TAU)).ln() / (2.0 * base.ln()));
    if whole {
        (first, second) = (first.floor(), second.ceil());
    }
    (first, second) = (first.max(0.0), second.min(n - 1.0));
    // A ramp has some length.
    [first, if first == second { second + 0.001 } else { second }]
}

/// What YaRN multiplies rotated entries by, `0.1 · weight · ln s + 1`, and 1 where nothing is
/// stretched: scores are multiplied by its square, and rows stay as sharp as in short texts.
///
/// # Source
/// Peng et al. 2023, equation 22.
pub fn yarn_amplitude(factor: f64, weight: f64) -> f64 {
    if factor <= 1.0 { 1.0 } else { 0.1 * weight * factor.ln() + 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pairing;

    const BASE: f64 = 10_000.0;

    fn rotary(n_rotated: usize) -> Rotary {
        Rotary::new(Pairing::Halves, n_rotated, BASE).unwrap()
    }

    fn ratios(stretched: &Rotary) -> Vec<f64> {
        let before = rotary(stretched.n_rotated()).frequencies;
        stretched.frequencies.iter().zip(before).map(|(now, then)| now / then).collect()
    }

    #[test]
    fn interpolation_slows_every_pair() {
        assert_eq!(ratios(&rotary(16).interpolated(4.0).unwrap()), [0.25; 8]);
    }

    /// By the formula with a base, which the code does not use.
    #[test]
    fn ntk_aware_is_another_base() {
        for n in [4, 16, 64] {
            let stretched = rotary(n).ntk_aware(8.0).unwrap();
            let base = BASE * 8f64.powf(n as f64 / (n as f64 - 2.0));
            let expected = Rotary::new(Pairing::Halves, n, base).unwrap();
            for (a, b) in stretched.frequencies.iter().zip(expected.frequencies) {
                assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
            }
            let ratios = ratios(&stretched);
            assert_eq!(ratios[0], 1.0);
            assert!((ratios[n / 2 - 1] - 0.125).abs() < 1e-15);
        }
        assert_eq!(ratios(&rotary(2).ntk_aware(8.0).unwrap()), [1.0]);
    }

    /// Within 512 positions pair 0 of 32 goes round 81 times, pair 15 once in a hundred.
    #[test]
    fn yarn_keeps_the_fast_pairs_and_interpolates_the_slow_ones() {
        let ends = yarn_ends(BASE, 32, 512.0, YARN_ROUNDS, true);
        assert_eq!(ends, [1.0, 8.0]);
        let stretched = rotary(32).yarn(ends, 4.0).unwrap();
        let ratios = ratios(&stretched);
        assert_eq!([ratios[0], ratios[1], ratios[8], ratios[15]], [1.0, 1.0, 0.25, 0.25]);
        assert!(ratios.windows(2).all(|two| two[1] <= two[0]), "{ratios:?}");
        assert!((stretched.amplitude - (1.0 + 0.1 * 4f64.ln())).abs() < 1e-15);
    }

    #[test]
    fn a_factor_of_1_changes_nothing() {
        let ends = yarn_ends(BASE, 16, 24.0, YARN_ROUNDS, true);
        for stretched in [
            rotary(16).interpolated(1.0),
            rotary(16).ntk_aware(1.0),
            rotary(16).yarn(ends, 1.0),
        ] {
            assert_eq!(stretched.unwrap(), rotary(16));
        }
    }

    #[test]
    fn a_factor_that_is_not_above_0_is_refused() {
        insta::assert_snapshot!(rotary(16).interpolated(0.0).unwrap_err(), @"the factor by which positions are stretched is 0, and must be a number above 0");
        assert!(rotary(16).ntk_aware(f64::NAN).is_err());
        assert!(rotary(16).yarn([0.0, 1.0], f64::INFINITY).is_err());
    }
}
