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
mod text;
mod value;

use exercises::{AnyExercise, Numbers, Precision, Verdict};

pub use error::{Error, Result};
pub use file::value_of_file;
pub use text::{Printed, printed};
pub use value::Value;

/// The verdict on numbers that were printed, or read from a file: one answer for each case.
///
/// # Errors
/// If there is not an answer for each case, or one is no array of numbers.
pub fn verdict(
    exercise: &dyn AnyExercise,
    kept: &Numbers,
    value: Value,
    precision: Precision,
) -> Result<Verdict> {
    let outcomes = outputs::of_cases(exercise, kept, value)?;
    Ok(exercise.verdict_on(kept, outcomes, precision))
}

/// The verdict on the reply of a program to [`inputs::lines`]: a line `{"outputs": …}` for each
/// case, or `{"error": "…"}` where the function failed.
///
/// # Errors
/// If a line is no such object, or there is not one for each case.
pub fn verdict_on_lines(
    exercise: &dyn AnyExercise,
    kept: &Numbers,
    reply: &str,
) -> Result<Verdict> {
    let outcomes = outputs::of_lines(exercise, kept, reply)?;
    Ok(exercise.verdict_on(kept, outcomes, Precision::FULL))
}
