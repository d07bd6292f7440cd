//! From an answer's numbers to the verdict.

use attention::Matrix;

use crate::compare::{first_difference, has_numbers, same_outcome, thinned};
use crate::outcome::{self, Outcome};
use crate::{
    CaseNumbers, Difference, Numbers, Parts, Pattern, Precision, Untyped, Verdict, Wrong,
};

type Found = Outcome<Vec<Matrix>>;

/// What can be said of what an answer gave on each case: the most telling thing first.
pub fn diagnose(shown: &Untyped, kept: &Numbers, outcomes: &[Found]) -> Verdict {
    Lookup { shown, kept, outcomes }.verdict()
}

/// Whether an answer gives on every case what the right one gives, or what a mistake gives.
pub fn same_everywhere(shown: &Untyped, kept: &Numbers, outcomes: &[Found]) -> bool {
    let lookup = Lookup { shown, kept, outcomes };
    lookup.is_right() || lookup.all_like().next().is_some()
}

/// The same of numbers with few digits, which may be those of several answers: a verdict then
/// names all of them, and a right answer that lost more on the way is not called wrong.
pub fn diagnose_coarse(
    shown: &Untyped,
    kept: &Numbers,
    outcomes: &[Found],
    precision: Precision,
) -> Verdict {
    let lookup = Lookup { shown, kept, outcomes };
    let mut mistakes: Vec<usize> = lookup.all_like().map(|it| it.mistake).collect();
    mistakes.dedup();
    let nearly = shown.with_tolerance(shown.tolerance + precision.arithmetic);
    let may_be_right = Lookup { shown: &nearly, ..lookup }.is_right();
    match (mistakes.as_slice(), may_be_right) {
        ([], true) if lookup.is_right() => Verdict::Passed,
        ([], false) | ([_], false) => lookup.verdict(),
        (_, may_be_right) => Verdict::Coarse { may_be_right, mistakes },
    }
}

/// An answer's numbers beside those that are kept.
#[derive(Clone, Copy)]
struct Lookup<'a> {
    shown: &'a Untyped<'a>,
    kept: &'a Numbers,
    outcomes: &'a [Found],
}

impl Lookup<'_> {
    fn verdict(&self) -> Verdict {
        let cases = &self.kept.cases;
        let differences: Vec<Option<Difference>> =
            (0..cases.len()).map(|case| self.difference(case)).collect();
        let first = (differences.iter().enumerate())
            .find_map(|(at, difference)| Some((at, difference.clone()?)));
        let Some((first, difference)) = first else {
            return Verdict::Passed;
        };
        let sizes = cases[first].sizes.clone();
        let right = right_with(cases, &differences);
        let slips = || self.first_of_two_slips(first);
        if let Some(&Wrong { mistake, answer, .. }) = self.mistake_like().or_else(slips) {
            return Verdict::Mistake { mistake, answer, sizes, difference };
        }
        let only_square_is_right = cases.iter().any(|case| case.square)
            && !difference.is_below_zero()
            && (cases.iter().zip(&differences))
                .all(|(case, d)| case.square == d.is_none());
        if only_square_is_right {
            return Verdict::SquareOnly { square: right, sizes, difference };
        }
        let pattern = self.pattern(&differences);
        let mut known: Vec<&str> =
            self.kept.wrong.iter().map(|it| it.id.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        Verdict::Unknown { right, sizes, difference, pattern, n_known: known.len() }
    }

    /// The mistake that gives the same as this answer on every case. Failing that, one that
    /// gives the answer's wrong numbers wherever the answer gives numbers of the right shape:
    /// a second slip, or the way in which one is written, may break the answer on other
    /// cases.
    fn mistake_like(&self) -> Option<&Wrong> {
        let with_numbers: Vec<usize> =
            (0..self.outcomes.len()).filter(|&case| self.has_numbers(case)).collect();
        let is_wrong_there =
            || with_numbers.iter().any(|&case| self.difference(case).is_some());
        let is_like =
            |wrong: &&Wrong| with_numbers.iter().all(|&case| self.gives(wrong, case));
        let there = || self.kept.wrong.iter().find(is_like).filter(|_| is_wrong_there());
        self.all_like().next().or_else(there)
    }

    /// The mistake whose wrong numbers this answer gives on every case on which the mistake
    /// shows, the answer's first wrong one among them. What the answer does where the mistake
    /// is right is another slip, which the next check tells. Of several mistakes it is the
    /// one that shows most often.
    fn first_of_two_slips(&self, first: usize) -> Option<&Wrong> {
        if !self.has_numbers(first) {
            return None;
        }
        let n_shown = |wrong: &Wrong| {
            let mut n_shown = 0;
            for (case, outcome) in wrong.outcomes.iter().enumerate() {
                let shows = outcome.is_some();
                if (shows && !self.gives(wrong, case)) || (case == first && !shows) {
                    return 0;
                }
                n_shown += usize::from(shows);
            }
            n_shown
        };
        let shown: Vec<usize> = self.kept.wrong.iter().map(n_shown).collect();
        let most = shown.iter().copied().max().filter(|&most| most > 0)?;
        self.kept
            .wrong
            .iter()
            .zip(shown)
            .find_map(|(wrong, n)| (n == most).then_some(wrong))
    }

    /// Whether the answer is right on every case.
    fn is_right(&self) -> bool {
        (0..self.outcomes.len()).all(|case| self.difference(case).is_none())
    }

    /// The answers that are kept of mistakes, and give on every case what this one gives.
    fn all_like(&self) -> impl Iterator<Item = &Wrong> {
        let is_like =
            |wrong: &&Wrong| (0..self.outcomes.len()).all(|case| self.gives(wrong, case));
        self.kept.wrong.iter().filter(is_like)
    }

    /// Whether the answer gives on a case what a mistake gives there.
    fn gives(&self, wrong: &Wrong, case: usize) -> bool {
        let right = || Some(thinned(&self.kept.cases[case].right));
        let kept: Parts = wrong.outcomes[case].clone().unwrap_or_else(right);
        same_outcome(&self.outcomes[case], &kept, self.shown.tolerance)
    }

    /// How the answer to a case differs from the right one.
    fn difference(&self, case: usize) -> Option<Difference> {
        match &self.outcomes[case] {
            Outcome::Panicked(outcome::Panic { message, at }) => {
                Some(Difference::Panic { message: message.clone(), at: at.clone() })
            }
            Outcome::Value(found) => {
                first_difference(self.shown, case, found, &self.kept.cases[case].right)
            }
        }
    }

    fn has_numbers(&self, case: usize) -> bool {
        match &self.outcomes[case] {
            Outcome::Panicked(_) => false,
            Outcome::Value(found) => {
                has_numbers(self.shown, found, &self.kept.cases[case].right)
            }
        }
    }

    /// What all wrong numbers have in common with the right ones.
    fn pattern(&self, differences: &[Option<Difference>]) -> Option<Pattern> {
        let wrong = (0..differences.len()).filter(|&case| differences[case].is_some());
        let mut patterns = wrong.map(|case| match &self.outcomes[case] {
            Outcome::Value(found) => {
                Pattern::of(found, &self.kept.cases[case].right, self.shown.tolerance)
            }
            Outcome::Panicked(_) => None,
        });
        let first = patterns.next()??;
        patterns.try_fold(first, |so_far, next| so_far.and(next?))
    }
}

/// The cases on which an answer is right, one on each line.
fn right_with(cases: &[CaseNumbers], differences: &[Option<Difference>]) -> String {
    let right = cases.iter().zip(differences).filter(|(_, d)| d.is_none());
    right.map(|(case, _)| case.sizes.clone()).collect::<Vec<_>>().join("\n")
}
