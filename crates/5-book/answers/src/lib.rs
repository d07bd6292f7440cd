//! An answer in any language.
//!
//! What an exercise compares is numbers, and numbers do not say who computed them. So the
//! inputs of an exercise go out, as JSON, as arrays in a file or as a few lines of Python, and
//! what somebody's function made of them comes in: printed and pasted, or in a file.
//!
//! ```text
//! exercise ─▶ inputs::lines, python, file ─▶ a function in any language
//!                                                    │ text, .json, .npy, .npz, .safetensors
//! verdict ◀─ exercises ◀─ a matrix a part ◀─ Value ◀─┘
//! ```
//!
//! The one decision: **what was printed says how exact it is.** Four digits, or a dtype of few
//! bits, are read with the text, and two answers that differ by less are not told apart: the
//! verdict then names both. What cannot be read is refused by its place, and no number is
//! guessed.

mod error;
mod file;
pub mod inputs;
mod outputs;
mod signature;
mod text;
mod value;

use attention::Matrix;
use exercises::{AnyExercise, Numbers, Outcome, Precision, Verdict};

pub use error::{Error, Result};
pub use file::value_of_file;
pub use signature::{program, signature};
pub use text::{Printed, printed};
pub use value::Value;

/// What somebody's function gave.
#[derive(Debug, Clone)]
pub struct Outputs {
    /// What came of each case.
    pub cases: Vec<Outcome<Vec<Matrix>>>,
    /// By how much its numbers may differ from those that were computed.
    pub precision: Precision,
}

impl Outputs {
    /// Reads an answer for each case: numbers that were printed, or a file of them; or the reply
    /// of a program to [`inputs::lines`], a line `{"outputs": …}` for each case, or
    /// `{"error": "…"}` where the function failed. `name` is the file's, for messages.
    ///
    /// # Errors
    /// What cannot be read; an answer that is no array of numbers, or one too few.
    pub fn read(
        exercise: &dyn AnyExercise,
        kept: &Numbers,
        name: &str,
        bytes: Vec<u8>,
    ) -> Result<Self> {
        let is_reply = |text: &&str| {
            text.trim_start().starts_with("{\"") && text.contains("\"outputs\"")
        };
        if let Some(text) = str::from_utf8(&bytes).ok().filter(is_reply) {
            return Self::of_lines(exercise, kept, text);
        }
        let Printed { value, precision } = value_of_file(name, bytes)?;
        Self::of_value(exercise, kept, value, precision)
    }

    /// Takes numbers that were printed, or read from a file: one answer for each case.
    ///
    /// # Errors
    /// If there is not an answer for each case, or one is no array of numbers.
    pub fn of_value(
        exercise: &dyn AnyExercise,
        kept: &Numbers,
        value: Value,
        precision: Precision,
    ) -> Result<Self> {
        Ok(Self { cases: outputs::of_cases(exercise, kept, value)?, precision })
    }

    /// Takes the reply of a program.
    ///
    /// # Errors
    /// If a line is no object with `outputs` or `error`, or there is not one for each case.
    pub fn of_lines(
        exercise: &dyn AnyExercise,
        kept: &Numbers,
        reply: &str,
    ) -> Result<Self> {
        let cases = outputs::of_lines(exercise, kept, reply)?;
        Ok(Self { cases, precision: Precision::FULL })
    }

    /// What is said of it.
    pub fn verdict(&self, exercise: &dyn AnyExercise, kept: &Numbers) -> Verdict {
        exercise.verdict_on(kept, self.cases.clone(), self.precision)
    }
}
