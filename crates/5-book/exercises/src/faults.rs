//! What an exercise must keep to, so that its check can be believed.

use crate::compare::{same_answer, same_outcome, same_shapes};
use crate::outcome::{self, Outcome};
use crate::{Answer, Exercise, Verdict};

impl<I, O: Answer> Exercise<I, O> {
    /// Everything that is wrong with this exercise: a reference that is refused, a mistake
    /// that passes, that is not named as itself, or that does what another does.
    pub(crate) fn find_faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.diagnose(self.reference) != Verdict::Passed {
            faults.push(format!("{}: its own reference is refused", self.name));
        }
        for (i, mistake) in self.mistakes.iter().enumerate() {
            let verdict = self.diagnose(mistake.answer);
            if !matches!(verdict, Verdict::Mistake { mistake, .. } if mistake == i) {
                let fault = format!(
                    "{}: “{}” is not named: {verdict:?}",
                    self.name, mistake.name
                );
                faults.push(fault);
            }
            for other in &self.mistakes[i + 1..] {
                if self.alike(mistake.answer, other.answer) {
                    let (a, b) = (mistake.name, other.name);
                    faults.push(format!("{}: “{a}” and “{b}” look alike", self.name));
                }
            }
            if !self.shows_values(mistake.answer) {
                let fault = "has the right shape on no input where it differs";
                faults.push(format!("{}: “{}” {fault}", self.name, mistake.name));
            }
        }
        faults
    }

    /// Whether two functions cannot be told apart on this exercise's inputs.
    fn alike(&self, a: fn(&I) -> O, b: fn(&I) -> O) -> bool {
        (self.cases)().iter().all(|case| {
            let run = |f: fn(&I) -> O| outcome::call(|| f(&case.input));
            same_outcome(&run(a), &run(b))
        })
    }

    /// Whether a mistake gives wrong numbers of the right shape on some input: a panic or
    /// a wrong shape everywhere would need no bank to be found.
    fn shows_values(&self, mistake: fn(&I) -> O) -> bool {
        (self.cases)().iter().any(|case| {
            let Outcome::Value(found) = outcome::call(|| mistake(&case.input)) else {
                return false;
            };
            let expected = (self.reference)(&case.input);
            same_shapes(&found, &expected) && !same_answer(&found, &expected)
        })
    }
}
