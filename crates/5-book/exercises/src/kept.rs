//! What a mistake gives, made again from what is kept of it.

use std::slice;

use attention::Matrix;

use crate::compare::thinned;
use crate::outcome::{Outcome, Panic};
use crate::{CaseNumbers, Parts, Wrong};

impl Wrong {
    /// What it gave on each of these cases. Columns that are not kept are those of the right
    /// answer, and of a panic nothing is known.
    pub fn outcomes(&self, cases: &[CaseNumbers]) -> Vec<Outcome<Vec<Matrix>>> {
        let outcome = |(outcome, case): (&Option<Parts>, &CaseNumbers)| match outcome {
            None => Outcome::Value(case.right.clone()),
            Some(Some(parts)) => Outcome::Value(unthinned(parts, &case.right)),
            Some(None) => Outcome::Panicked(Panic {
                message: "no numbers come out".into(),
                at: "this input".into(),
            }),
        };
        self.outcomes.iter().zip(cases).map(outcome).collect()
    }
}

/// The matrices of which that is kept, as far as they are: columns that were left out are those
/// of the right answer.
fn unthinned(kept: &[Matrix], right: &[Matrix]) -> Vec<Matrix> {
    let full = |(kept, right): (&Matrix, &Matrix)| {
        let is_thin = right.len() > 1024
            && thinned(slice::from_ref(right))[0].shape() == kept.shape();
        let mut full = if is_thin { right.clone() } else { kept.clone() };
        if is_thin {
            full.columns_with_step_mut(0, kept.ncols(), 7).copy_from(kept);
        }
        full
    };
    let in_right = kept.iter().zip(right).map(full);
    in_right.chain(kept.iter().skip(right.len()).cloned()).collect()
}
