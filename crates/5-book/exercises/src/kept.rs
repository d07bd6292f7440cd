//! What a mistake gives, from what is kept of it.

use attention::Matrix;

use crate::outcome::{Outcome, Panic};
use crate::{CaseNumbers, Wrong};

impl Wrong {
    /// What it gave on each of these cases. Of a large matrix that is wrong there are the
    /// columns that are kept, and of a panic nothing is known.
    pub fn outcomes(&self, cases: &[CaseNumbers]) -> Vec<Outcome<Vec<Matrix>>> {
        let panic =
            || Panic { message: "no numbers come out".into(), at: "this input".into() };
        let cases = self.outcomes.iter().zip(cases);
        cases
            .map(|(outcome, case)| match outcome {
                None => Outcome::Value(case.right.clone()),
                Some(Some(parts)) => Outcome::Value(parts.clone()),
                Some(None) => Outcome::Panicked(panic()),
            })
            .collect()
    }
}
