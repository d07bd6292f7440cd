//! From an answer to the verdict.

use crate::compare::{first_difference, has_numbers, same_outcome};
use crate::outcome::{self, Outcome};
use crate::{Answer, Case, Difference, Exercise, Mistake, Pattern, Verdict};

impl<I, O: Answer> Exercise<I, O> {
    /// What can be said of this answer: the most telling thing first.
    pub fn diagnose(&self, answer: impl Fn(&I) -> O) -> Verdict {
        let cases = (self.cases)();
        let mut outcomes = Vec::with_capacity(cases.len());
        for case in &cases {
            outcome::now_running(&case.sizes);
            let outcome = outcome::call(|| answer(&case.input));
            // A `todo!()` that only later inputs reach is a panic like any other.
            if outcomes.is_empty()
                && matches!(&outcome, Outcome::Panicked(panic) if panic.is_todo())
            {
                return Verdict::NotWritten;
            }
            outcomes.push(outcome);
        }
        let differences: Vec<Option<Difference>> = (cases.iter().zip(&outcomes))
            .map(|(case, outcome)| self.difference(case, outcome))
            .collect();
        let first = (differences.iter().enumerate())
            .find_map(|(at, difference)| Some((at, difference.clone()?)));
        let Some((first, difference)) = first else {
            return Verdict::Passed;
        };
        let sizes = cases[first].sizes.clone();
        let right = right_with(&cases, &differences);
        let mistake = self.mistake_like(&cases, &outcomes);
        if let Some(mistake) =
            mistake.or_else(|| self.first_of_two_slips(&cases, &outcomes, first))
        {
            return Verdict::Mistake { mistake, sizes, difference };
        }
        let only_square_is_right = cases.iter().any(|case| case.square)
            && !difference.is_below_zero()
            && (cases.iter().zip(&differences))
                .all(|(case, d)| case.square == d.is_none());
        if only_square_is_right {
            return Verdict::SquareOnly { square: right, sizes, difference };
        }
        let wrong = differences.iter().map(Option::is_some);
        let pattern = self.pattern(cases.iter().zip(&outcomes).zip(wrong));
        let n_known = self.mistakes.len();
        Verdict::Unknown { right, sizes, difference, pattern, n_known }
    }

    /// The mistake of the bank that does the same as this answer on every input. Failing
    /// that, one that gives the answer's wrong numbers wherever the answer gives numbers of
    /// the right shape: a second slip, or the way in which one is written, may break the
    /// answer on other inputs.
    fn mistake_like(&self, cases: &[Case<I>], outcomes: &[Outcome<O>]) -> Option<usize> {
        let everywhere: Vec<_> = cases.iter().zip(outcomes).collect();
        let with_numbers: Vec<_> = (everywhere.iter().copied())
            .filter(|(case, outcome)| self.has_numbers(case, outcome))
            .collect();
        let is_wrong_there = with_numbers
            .iter()
            .any(|(case, outcome)| self.difference(case, outcome).is_some());
        let like = |pairs: &[(&Case<I>, &Outcome<O>)]| {
            self.mistakes.iter().position(|mistake| {
                pairs.iter().all(|(case, outcome)| {
                    let wrong = outcome::call(|| (mistake.answer)(&case.input));
                    same_outcome(outcome, &wrong)
                })
            })
        };
        like(&everywhere).or_else(|| is_wrong_there.then(|| like(&with_numbers))?)
    }

    /// The mistake whose wrong numbers this answer gives on every input on which the mistake
    /// shows, the answer's first wrong one among them. What the answer does where the mistake
    /// is right is another slip, which the next check tells. Of several mistakes it is the
    /// one that shows most often.
    fn first_of_two_slips(
        &self,
        cases: &[Case<I>],
        outcomes: &[Outcome<O>],
        first: usize,
    ) -> Option<usize> {
        if !self.has_numbers(&cases[first], &outcomes[first]) {
            return None;
        }
        let n_shown = |mistake: &Mistake<I, O>| {
            let mut n_shown = 0;
            for (at, (case, outcome)) in cases.iter().zip(outcomes).enumerate() {
                let wrong = outcome::call(|| (mistake.answer)(&case.input));
                let shows = self.difference(case, &wrong).is_some();
                if (shows && !same_outcome(outcome, &wrong)) || (at == first && !shows) {
                    return 0;
                }
                n_shown += usize::from(shows);
            }
            n_shown
        };
        let shown: Vec<usize> = self.mistakes.iter().map(n_shown).collect();
        let most = shown.iter().copied().max().filter(|&most| most > 0)?;
        shown.iter().position(|&n| n == most)
    }

    /// How an answer to one input differs from the reference.
    fn difference(&self, case: &Case<I>, outcome: &Outcome<O>) -> Option<Difference> {
        match outcome {
            Outcome::Panicked(outcome::Panic { message, at }) => {
                Some(Difference::Panic { message: message.clone(), at: at.clone() })
            }
            Outcome::Value(found) => {
                let name = |place| (self.place)(&case.input, place);
                first_difference(found, &(self.reference)(&case.input), name)
            }
        }
    }

    fn has_numbers(&self, case: &Case<I>, outcome: &Outcome<O>) -> bool {
        match outcome {
            Outcome::Panicked(_) => false,
            Outcome::Value(found) => has_numbers(found, &(self.reference)(&case.input)),
        }
    }

    /// What all wrong answers have in common with the reference.
    fn pattern<'a>(
        &self,
        outcomes: impl Iterator<Item = ((&'a Case<I>, &'a Outcome<O>), bool)>,
    ) -> Option<Pattern>
    where
        O: 'a,
    {
        let mut patterns =
            outcomes.filter(|(_, is_wrong)| *is_wrong).map(|((case, it), _)| match it {
                Outcome::Value(found) => {
                    Pattern::of(found, &(self.reference)(&case.input))
                }
                Outcome::Panicked(_) => None,
            });
        let first = patterns.next()??;
        patterns.try_fold(first, |so_far, next| so_far.and(next?))
    }
}

/// The inputs on which an answer is right.
fn right_with<I>(cases: &[Case<I>], differences: &[Option<Difference>]) -> String {
    let right = cases.iter().zip(differences).filter(|(_, d)| d.is_none());
    right.map(|(case, _)| case.sizes.clone()).collect::<Vec<_>>().join("; ")
}
