//! From an answer to the verdict.

use crate::compare::{Mismatch, common_factor, first_mismatch, same_outcome};
use crate::outcome::{self, Outcome};
use crate::verdict::{Difference, Verdict};
use crate::{Answer, Case, Exercise};

impl<I, O: Answer> Exercise<I, O> {
    /// What can be said of this answer: the most telling thing first.
    pub fn diagnose(&self, answer: impl Fn(&I) -> O) -> Verdict {
        let cases = (self.cases)();
        let mut seen = Vec::with_capacity(cases.len());
        for case in &cases {
            outcome::now_running(&case.sizes);
            let outcome = outcome::call(|| answer(&case.input));
            // A `todo!()` that only later inputs reach is a panic like any other.
            if seen.is_empty()
                && matches!(&outcome, Outcome::Panicked(panic) if panic.is_todo())
            {
                return Verdict::NotWritten;
            }
            seen.push(outcome);
        }
        let problems: Vec<Option<Problem>> = (cases.iter().zip(&seen))
            .map(|(case, outcome)| self.problem(case, outcome))
            .collect();
        let Some(first) = problems.iter().position(Option::is_some) else {
            return Verdict::Passed;
        };
        let only_square_is_right = cases.iter().any(|case| case.square)
            && (cases.iter().zip(&problems)).all(|(case, p)| case.square == p.is_none());
        let (case, problem) = (&cases[first], problems[first].clone());
        let mistake = self.mistake_like(&cases, &seen, &problems);
        match (mistake, problem.expect("the first problem is one")) {
            (Some(mistake), problem) => Verdict::Mistake {
                mistake,
                sizes: case.sizes.clone(),
                difference: self.difference(case, &problem),
            },
            (None, problem) if only_square_is_right => Verdict::SquareOnly {
                square: right_with(&cases, &problems),
                sizes: case.sizes.clone(),
                difference: self.difference(case, &problem),
            },
            (None, problem) => Verdict::Unknown {
                right: right_with(&cases, &problems),
                sizes: case.sizes.clone(),
                difference: self.difference(case, &problem),
                factor: self.factor(case, &seen[first]),
                n_known: self.mistakes.len(),
            },
        }
    }

    /// The mistake of the bank that does the same as this answer on every input. Failing
    /// that, one that gives the answer's wrong numbers wherever the answer gives numbers of
    /// the right shape: a second slip, or the way in which one is written, may break the
    /// answer on other inputs.
    fn mistake_like(
        &self,
        cases: &[Case<I>],
        seen: &[Outcome<O>],
        problems: &[Option<Problem>],
    ) -> Option<usize> {
        let everything: Vec<_> = cases.iter().zip(seen).collect();
        let breaks =
            |problem: &Option<Problem>| problem.as_ref().is_some_and(Problem::breaks);
        let computed: Vec<_> = (everything.iter().copied().zip(problems))
            .filter_map(|(pair, problem)| (!breaks(problem)).then_some(pair))
            .collect();
        let is_wrong = problems.iter().flatten().any(|problem| !problem.breaks());
        let like = |pairs: &[(&Case<I>, &Outcome<O>)]| {
            self.mistakes.iter().position(|mistake| {
                pairs.iter().all(|(case, seen)| {
                    same_outcome(seen, &outcome::call(|| (mistake.answer)(&case.input)))
                })
            })
        };
        like(&everything).or_else(|| if is_wrong { like(&computed) } else { None })
    }

    fn problem(&self, case: &Case<I>, outcome: &Outcome<O>) -> Option<Problem> {
        match outcome {
            Outcome::Panicked(panic) => Some(Problem::Panic(panic.clone())),
            Outcome::Value(found) => {
                let expected = (self.reference)(&case.input);
                first_mismatch(found, &expected).map(Problem::Mismatch)
            }
        }
    }

    fn difference(&self, case: &Case<I>, problem: &Problem) -> Difference {
        match problem {
            Problem::Panic(panic) => {
                Difference::Panic { message: panic.message.clone(), at: panic.at.clone() }
            }
            Problem::Mismatch(Mismatch::Parts { found, expected }) => {
                Difference::Parts { found: found.clone(), expected: expected.clone() }
            }
            Problem::Mismatch(Mismatch::Shape { part, found, expected }) => {
                Difference::Shape {
                    part: part.clone(),
                    found: *found,
                    expected: *expected,
                }
            }
            Problem::Mismatch(Mismatch::Entry { place, found, expected }) => {
                let place = (self.place)(&case.input, *place);
                Difference::Entry { place, found: *found, expected: *expected }
            }
        }
    }

    /// The number by which all of an answer is a multiple of the reference.
    fn factor(&self, case: &Case<I>, seen: &Outcome<O>) -> Option<f64> {
        match seen {
            Outcome::Value(found) => common_factor(found, &(self.reference)(&case.input)),
            Outcome::Panicked(_) => None,
        }
    }
}

#[derive(Clone)]
enum Problem {
    Panic(outcome::Panic),
    Mismatch(Mismatch),
}

impl Problem {
    /// Whether it is a panic, another shape than the reference's, or NaN.
    fn breaks(&self) -> bool {
        match self {
            Self::Mismatch(Mismatch::Entry { found, .. }) => found.is_nan(),
            _ => true,
        }
    }
}

/// The inputs on which an answer is right.
fn right_with<I>(cases: &[Case<I>], problems: &[Option<Problem>]) -> String {
    let right = cases.iter().zip(problems).filter(|(_, problem)| problem.is_none());
    right.map(|(case, _)| case.sizes.clone()).collect::<Vec<_>>().join("; ")
}
