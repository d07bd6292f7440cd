//! An exercise without its types, for answers that are no Rust function: numbers that a program
//! printed, in whatever language.

use attention::Matrix;

use crate::compare::normalised;
use crate::diagnose::{diagnose, diagnose_coarse, same_everywhere};
use crate::outcome::Outcome;
use crate::{
    Answer, Array, Arrays, CaseNumbers, Exercise, Numbers, Precision, Question, Verdict,
};

/// An input of an exercise as arrays.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// Its sizes, as a message names them.
    pub sizes: String,
    /// What the function is given, in the order of its arguments.
    pub arrays: Vec<Array>,
}

/// An exercise whose types are forgotten.
pub trait AnyExercise: Sync {
    /// The name of its files.
    fn name(&self) -> &'static str;

    /// Whether the length of a list belongs to what is asked.
    fn is_list(&self) -> bool;

    /// What the function is given, of each case, by the seed of the numbers that are kept.
    fn inputs(&self, seed: u64) -> Vec<Given>;

    /// The verdict on what somebody's function gave, case by case, in numbers of this
    /// precision.
    fn verdict_on(
        &self,
        kept: &Numbers,
        outcomes: Vec<Outcome<Vec<Matrix>>>,
        precision: Precision,
    ) -> Verdict;

    /// How many changed inputs stand behind the cases of a seed, for its defence.
    fn n_probes(&self, seed: u64) -> usize;

    /// A question about an answer that is right, by what it gives on the cases of a seed and on
    /// the changed inputs behind them; none where no change has something to ask.
    fn question(&self, seed: u64, outcomes: &[Outcome<Vec<Matrix>>]) -> Option<Question>;
}

impl<I: Arrays, O: Answer> AnyExercise for Exercise<I, O> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn is_list(&self) -> bool {
        O::IS_LIST
    }

    fn inputs(&self, seed: u64) -> Vec<Given> {
        let cases = (self.cases)(seed).into_iter();
        cases
            .map(|case| Given { sizes: case.sizes, arrays: case.input.arrays("") })
            .collect()
    }

    fn verdict_on(
        &self,
        kept: &Numbers,
        outcomes: Vec<Outcome<Vec<Matrix>>>,
        precision: Precision,
    ) -> Verdict {
        let within = |fraction: f64| -> Vec<_> {
            let cases = outcomes.iter().cloned().zip(&kept.cases);
            let normal = |(outcome, case): (_, &CaseNumbers)| {
                normalised(outcome, &case.right, O::N_BEHIND, fraction)
            };
            cases.map(normal).collect()
        };
        self.untyped(&(self.cases)(kept.seed), |shown| {
            let exact = within(O::TOLERANCE);
            // Few digits may be all that there are: 0.25 is.
            if !precision.is_coarse() || same_everywhere(shown, kept, &exact) {
                return diagnose(shown, kept, &exact);
            }
            let fraction = O::TOLERANCE + precision.rounding;
            let coarse = shown.with_tolerance(fraction);
            diagnose_coarse(&coarse, kept, &within(fraction), precision)
        })
    }

    fn n_probes(&self, seed: u64) -> usize {
        self.probes(seed).len()
    }

    fn question(&self, seed: u64, outcomes: &[Outcome<Vec<Matrix>>]) -> Option<Question> {
        let cases = (self.cases)(seed);
        let behind = outcomes.get(cases.len()..)?;
        let probes = self.probes(seed);
        let asked = probes.iter().zip(behind).filter_map(|(probe, after)| {
            let pair = [&outcomes[probe.case], after];
            Question::of(probe, &cases[probe.case].sizes, pair, O::TOLERANCE)
        });
        let asked: Vec<Question> = asked.collect();
        let telling = asked.iter().find(|it| it.is_telling()).cloned();
        telling.or_else(|| asked.first().cloned())
    }
}
