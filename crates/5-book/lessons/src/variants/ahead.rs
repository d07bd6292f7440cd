//! Whether one way is ahead of another: seed by seed.

use ablation::odds::sign_test;

/// What ten seeds say of two ways that were trained and tested with the same ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Against {
    /// With how many seeds the first scores more.
    pub more: usize,
    /// With how many it scores less.
    pub less: usize,
}

/// What is made of it. One in fifty comparisons of a way with itself is decided by chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The first is ahead.
    Ahead,
    /// It is behind.
    Behind,
    /// Neither.
    Undecided,
}

impl Against {
    /// Counts the seeds; ties count for neither.
    pub fn of(first: &[f64], second: &[f64]) -> Self {
        let count = |is: fn(&f64, &f64) -> bool| {
            first.iter().zip(second).filter(|(a, b)| is(a, b)).count()
        };
        Self { more: count(|a, b| a > b), less: count(|a, b| a < b) }
    }

    /// The sign test's p.
    pub fn p(self) -> f64 {
        sign_test(self.more, self.less)
    }

    /// Decided below p = .05: with ten seeds, nine to one.
    pub fn verdict(self) -> Verdict {
        match self.p() < 0.05 {
            true if self.more > self.less => Verdict::Ahead,
            true => Verdict::Behind,
            false => Verdict::Undecided,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::{Rng, SeedableRng, random_matrix};

    /// Of ways that do not differ one in fifty is decided; of ways two spreads apart nearly
    /// all are, and for the right one.
    #[test]
    fn a_planted_difference_is_decided_and_noise_is_not() {
        let rng = &mut Rng::seed_from_u64(1);
        let mut decided = |by: f64| {
            let mut verdicts = [0; 3];
            for _ in 0..2000 {
                let scores = random_matrix::<f64>(10, 2, 1.0, rng);
                let (a, b) = (scores.column(0).add_scalar(by), scores.column(1));
                verdicts[Against::of(a.as_slice(), b.as_slice()).verdict() as usize] += 1;
            }
            verdicts.map(|n| f64::from(n) / 2000.0)
        };
        let [ahead, behind, _] = decided(0.0);
        assert!(ahead + behind < 0.035, "{ahead} {behind}");
        let [ahead, behind, _] = decided(2.0);
        assert!(ahead > 0.6 && behind == 0.0, "{ahead} {behind}");
        assert!(decided(-3.0)[1] > 0.9);
    }

    #[test]
    fn nine_to_one_is_decided_and_eight_to_two_is_not() {
        let of = |more, less| Against { more, less }.verdict();
        assert_eq!(
            [of(9, 1), of(1, 9), of(8, 2)],
            [Verdict::Ahead, Verdict::Behind, Verdict::Undecided]
        );
        assert_eq!(
            Against::of(&[1.0, 2.0, 3.0], &[1.0, 1.0, 4.0]),
            Against { more: 1, less: 1 }
        );
    }
}
