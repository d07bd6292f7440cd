//! What an answer gives, printed by a process of its own and judged in another.
//!
//! A check that is asked for outcomes (by `LEARN_CHECK_OUTCOMES`, the seed of the inputs) prints
//! what the answer gives on these inputs and on the changed ones of its defence, which it cannot
//! tell from them, and no verdict. It reads no sheet and no numbers, so that an answer which
//! cannot be trusted is run where none of these are, and gains nothing by what it prints or how
//! it ends.

use attention::Matrix;
use serde::{Deserialize, Serialize};

use crate::outcome::{Outcome, Panic, TimeUp, Words};
use crate::{AnyExercise, Numbers, Precision, Question, Verdict};

/// How the run of an answer ended: `T` is what came of each input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Ending<T> {
    /// It came to its end.
    Outcomes(T),
    /// It was stopped.
    NoEnd {
        /// The input that it was working on.
        sizes: String,
        /// After how many seconds.
        seconds: u64,
    },
}

/// What came of an input, with every bit of its numbers: the rows, the columns and the entries
/// of each matrix, column by column.
type Exact = Result<Vec<(usize, usize, Vec<u64>)>, Panic>;

impl Words {
    /// Prints what came of each input: a line.
    pub fn ending<T: Serialize>(&self, ended: Result<T, TimeUp>) {
        let ending = ended.map_or_else(
            |limit| Ending::NoEnd { sizes: limit.running, seconds: limit.seconds },
            Ending::Outcomes,
        );
        self.print(&format!("\n{}", serde_json::json!(ending)));
    }

    pub(crate) fn outcomes(&self, ended: Result<Vec<Outcome<Vec<Matrix>>>, TimeUp>) {
        let bits = |matrix: &Matrix| {
            let entries = matrix.iter().map(|entry| entry.to_bits()).collect();
            (matrix.nrows(), matrix.ncols(), entries)
        };
        let exact = |outcome: Outcome<Vec<Matrix>>| -> Exact {
            match outcome {
                Outcome::Value(parts) => Ok(parts.iter().map(bits).collect()),
                Outcome::Panicked(panic) => Err(panic),
            }
        };
        self.ending(ended.map(|all| all.into_iter().map(exact).collect::<Vec<_>>()));
    }
}

/// The verdict on the line that [`Exercise::check`](crate::Exercise::check) printed, and of an
/// answer that passed the question that defends it; nothing where it is no such line, or is of
/// another number of inputs.
pub fn judged_on_line(
    exercise: &dyn AnyExercise,
    kept: &Numbers,
    line: &str,
) -> Option<(Verdict, Option<Question>)> {
    let matrix = |(n_rows, n_columns, entries): (usize, usize, Vec<u64>)| {
        let is_whole = n_rows.checked_mul(n_columns) == Some(entries.len());
        let entries = entries.into_iter().map(f64::from_bits);
        is_whole.then(|| Matrix::from_iterator(n_rows, n_columns, entries))
    };
    let outcome = |exact: Exact| match exact {
        Ok(parts) => Some(Outcome::Value(
            parts.into_iter().map(matrix).collect::<Option<Vec<_>>>()?,
        )),
        Err(panic) => Some(Outcome::Panicked(panic)),
    };
    let outcomes = match serde_json::from_str(line).ok()? {
        Ending::NoEnd { sizes, seconds } => {
            return Some((Verdict::NoEnd { sizes, seconds }, None));
        }
        Ending::Outcomes(exact) => Vec::into_iter(exact).map(outcome),
    };
    let outcomes: Vec<_> = outcomes.collect::<Option<_>>()?;
    if matches!(outcomes.first(), Some(Outcome::Panicked(panic)) if panic.is_todo()) {
        return Some((Verdict::NotWritten, None));
    }
    if outcomes.len() != kept.cases.len() + exercise.n_probes(kept.seed) {
        return None;
    }
    let of_cases = outcomes[..kept.cases.len()].to_vec();
    let verdict = exercise.verdict_on(kept, of_cases, Precision::FULL);
    let passed = matches!(verdict, Verdict::Passed);
    let question = passed.then(|| exercise.question(kept.seed, &outcomes)).flatten();
    Some((verdict, question))
}
