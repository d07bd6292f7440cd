//! Rotary frequencies for texts longer than those of the training.

use std::f64::consts::TAU;
use std::process::ExitCode;

use crate::{Case, Exercise, Place, Section};

mod mistakes;

/// A rule by which frequencies are made smaller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stretch {
    /// All by the same factor (Chen et al. 2023).
    Interpolated,
    /// By a larger base.
    NtkAware,
    /// The slow pairs, and not the fast ones (Peng et al. 2023).
    Yarn {
        /// The positions of the training.
        n_trained: f64,
        /// A pair with so many turns in the training, or fewer, is divided by the factor.
        slow: f64,
        /// A pair with so many, or more, stays.
        fast: f64,
    },
}

/// A head's width, its base, a factor and a rule.
#[derive(Clone)]
pub struct Input {
    d: usize,
    base: f64,
    factor: f64,
    stretch: Stretch,
}

/// What is known of a pair under YaRN.
#[derive(Clone, Copy)]
struct Pair {
    p: f64,
    f: f64,
    turns: f64,
    n_trained: f64,
    slow: f64,
    fast: f64,
}

impl Pair {
    /// Where a number of turns lies between the slow and the fast.
    fn between(self, turns: f64) -> f64 {
        (turns - self.slow) / (self.fast - self.slow)
    }
}

impl Input {
    fn f(&self, p: usize) -> f64 {
        self.base.powf(-2.0 * p as f64 / self.d as f64)
    }

    /// Each pair by one of these, as the rule says.
    fn by(
        &self,
        interpolated: impl Fn(f64) -> f64,
        new_base: impl Fn(f64) -> f64,
        yarn: impl Fn(Pair) -> f64,
    ) -> Vec<f64> {
        let of = |p: usize| match self.stretch {
            Stretch::Interpolated => interpolated(self.f(p)),
            Stretch::NtkAware => {
                new_base(self.d as f64).powf(-2.0 * p as f64 / self.d as f64)
            }
            Stretch::Yarn { n_trained, slow, fast } => {
                let f = self.f(p);
                let turns = n_trained * f / TAU;
                yarn(Pair { p: p as f64, f, turns, n_trained, slow, fast })
            }
        };
        (0..self.d / 2).map(of).collect()
    }

    fn right(&self) -> Vec<f64> {
        self.with_yarn(|pair| self.blend(pair, pair.between(pair.turns).clamp(0.0, 1.0)))
    }

    /// So much of f as it is, and the rest divided by the factor.
    fn blend(&self, Pair { f, .. }: Pair, kept: f64) -> f64 {
        f * (kept + (1.0 - kept) / self.factor)
    }

    fn base_of(&self, d: f64) -> f64 {
        self.base * self.factor.powf(d / (d - 2.0))
    }

    fn with_yarn(&self, yarn: impl Fn(Pair) -> f64) -> Vec<f64> {
        self.by(|f| f / self.factor, |d| self.base_of(d), yarn)
    }

    fn with_interpolated(&self, interpolated: impl Fn(f64) -> f64) -> Vec<f64> {
        match self.stretch {
            Stretch::Interpolated => self.by(interpolated, |_| 0.0, |_| 0.0),
            _ => self.right(),
        }
    }

    fn with_base(&self, new_base: impl Fn(f64) -> f64) -> Vec<f64> {
        match self.stretch {
            Stretch::NtkAware => self.by(|_| 0.0, new_base, |_| 0.0),
            _ => self.right(),
        }
    }

    /// With another share that stays, from 0 to 1.
    fn keeping(&self, kept: impl Fn(Pair) -> f64) -> Vec<f64> {
        self.with_yarn(|pair| self.blend(pair, kept(pair)))
    }
}

/// What the reader writes: the frequencies of d/2 pairs.
pub type Frequencies = fn(d: usize, base: f64, factor: f64, stretch: Stretch) -> Vec<f64>;

/// Checks an answer.
pub fn check(answer: Frequencies) -> ExitCode {
    EXERCISE.check(move |Input { d, base, factor, stretch }| {
        answer(*d, *base, *factor, *stretch)
    })
}

const STRETCHED: Section = Section::new("variants", "Rotary positions, stretched");

/// The exercise.
pub static EXERCISE: Exercise<Input, Vec<f64>> = Exercise {
    name: "stretched_rotary",
    title: "Positions stretched",
    read: STRETCHED,
    begin: "d 8, base 100, factor 4: write down the four frequencies, and under each what \
        interpolation makes of it",
    print: "the frequency of each pair before and after, and its turns in the training",
    passed: "Slow pairs, which never finished a turn in the training, meet no angle that is \
        new; fast ones tell neighbours apart as before, where the rule lets them.",
    cases,
    reference: Input::right,
    mistakes: mistakes::ALL,
    place: |_, Place { column, .. }| format!("the frequency of pair {column}"),
};

fn cases() -> Vec<Case<Input>> {
    let case = |d: usize, base: f64, factor: f64, stretch: Stretch| Case {
        sizes: format!("d {d}, base {base}, factor {factor}, {stretch:?}"),
        square: false,
        input: Input { d, base, factor, stretch },
    };
    let yarn = |n_trained, slow, fast| Stretch::Yarn { n_trained, slow, fast };
    vec![
        case(8, 100.0, 4.0, Stretch::Interpolated),
        case(6, 50.0, 2.0, Stretch::Interpolated),
        case(8, 100.0, 4.0, Stretch::NtkAware),
        case(6, 50.0, 2.0, Stretch::NtkAware),
        case(8, 100.0, 4.0, yarn(64.0, 1.0, 8.0)),
        case(12, 1000.0, 8.0, yarn(128.0, 1.0, 16.0)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    /// The statement's claims: the ends of the NTK-aware rule, and the bounds of YaRN.
    #[test]
    fn pair_0_stays_and_the_last_one_is_divided_by_the_factor() {
        for Case { input, sizes, .. } in cases() {
            let (stretched, last) = (input.right(), input.d / 2 - 1);
            if input.stretch == Stretch::NtkAware {
                assert!((stretched[0] - 1.0).abs() < 1e-12, "{sizes}");
                let expected = input.f(last) / input.factor;
                assert!((stretched[last] - expected).abs() < 1e-12, "{sizes}");
            }
            for (p, f) in stretched.iter().enumerate() {
                let within = input.f(p) / input.factor * 0.999..=input.f(p) * 1.001;
                assert!(within.contains(f), "{sizes}: pair {p}, {f}");
            }
            let unchanged = Input { factor: 1.0, ..input.clone() };
            let plain: Vec<f64> = (0..=last).map(|p| input.f(p)).collect();
            for (f, plain) in unchanged.right().iter().zip(&plain) {
                assert!((f - plain).abs() < 1e-12, "{sizes}");
            }
        }
    }

    /// By logarithms, and YaRN by cases.
    #[test]
    fn another_way_to_write_it_is_right() {
        let other = |input: &Input| {
            let Input { d, base, factor, stretch } = *input;
            let step = base.ln() * 2.0 / d as f64;
            let of = |p: usize| {
                let f = (-step * p as f64).exp();
                match stretch {
                    Stretch::Interpolated => f / factor,
                    Stretch::NtkAware => {
                        f * factor.powf(-(p as f64) / (d as f64 / 2.0 - 1.0))
                    }
                    Stretch::Yarn { n_trained, slow, fast } => {
                        let turns = n_trained / (TAU / f);
                        if turns >= fast {
                            f
                        } else if turns <= slow {
                            f / factor
                        } else {
                            f / factor + (f - f / factor) * (turns - slow) / (fast - slow)
                        }
                    }
                }
            };
            (0..d / 2).map(of).collect::<Vec<f64>>()
        };
        assert_eq!(EXERCISE.diagnose(other), Verdict::Passed);
    }
}
