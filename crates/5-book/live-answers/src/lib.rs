//! An exercise in a page of the book: the inputs out, the numbers of somebody's function in, and
//! the verdict.
//!
//! ```text
//! answers.js ──▶ answers-worker.js ──▶ this module ──▶ answers ──▶ exercises
//!   a paste, a file   a thread            bytes in,      numbers     the verdict
//!   the verdict                           bytes out
//! ```
//!
//! The one decision: **the page computes nothing and this crate compares nothing**. What a page
//! says is the [`Report`] that `cargo learn check --numbers` gives on the same file. What is
//! said of an exercise, and the numbers that are kept of it, come from the page, which fetches
//! them when its reader opens an exercise: no sheet is compiled in.
//!
//! Left out: the exercise whose last input is the trained layer. Its bytes alone are more than
//! all of this module.

mod error;
#[cfg(target_arch = "wasm32")]
mod module;

use answers::Outputs;
use answers::inputs::{self, Library};
use attention::Matrix;
use exercises::{AnyExercise, ExerciseWords, Numbers, Outcome, Report, Verdict, number};
use serde_json::{Value, json};

pub use error::{Error, Result};

/// What an exercise hands out, as bytes: `torch`, `numpy`, `jax` or `lists`, a program in Python
/// that ends with the call; `lines`, a line of JSON for each input; `safetensors`, a file.
///
/// # Errors
/// An exercise or a form that is not there, or numbers that are not kept of it.
pub fn given(name: &str, numbers: &[u8], form: &str, function: &str) -> Result<Vec<u8>> {
    let exercise = any(name)?;
    let seed = kept(name, numbers)?.seed;
    Ok(match form {
        "lines" => inputs::lines(exercise, seed).into_bytes(),
        "safetensors" => tensors::to_bytes(&inputs::tensors(exercise, seed)?)?,
        library => {
            answers::program(exercise, of_name(library)?, function, seed).into_bytes()
        }
    })
}

/// The head of the function that is asked for, in Python.
///
/// # Errors
/// An exercise or a library that is not there.
pub fn signature(name: &str, library: &str, function: &str) -> Result<String> {
    Ok(answers::signature(any(name)?, of_name(library)?, function))
}

/// The verdict on numbers: `report`, as [`Report`] is printed, and `maps`, the first matrix that
/// differs, `is` and `should` be, lists of rows, where an entry differs.
///
/// # Errors
/// What is no kept file, or cannot be read as numbers, in a sentence.
pub fn verdict(
    name: &str,
    numbers: &[u8],
    words: &[u8],
    given: Vec<u8>,
    file: &str,
) -> Result<Value> {
    let exercise = any(name)?;
    let kept = kept(name, numbers)?;
    let words: ExerciseWords = serde_json::from_slice(words)?;
    let outputs = Outputs::read(exercise, &kept, file, given)?;
    let verdict = outputs.verdict(exercise, &kept);
    Ok(json!({
        "maps": maps(&kept, &outputs, &verdict),
        "report": Report::of(&words, &verdict),
    }))
}

fn kept(name: &str, numbers: &[u8]) -> Result<Numbers> {
    let kept = Numbers::read(numbers).filter(|kept| kept.name == name);
    kept.ok_or_else(|| Error::Kept(name.to_owned()))
}

fn any(name: &str) -> Result<&'static dyn AnyExercise> {
    exercises::any(name).ok_or_else(|| Error::Exercise(name.to_owned()))
}

fn of_name(library: &str) -> Result<Library> {
    Ok(match library {
        "torch" => Library::Torch,
        "numpy" => Library::Numpy,
        "jax" => Library::Jax,
        "lists" => Library::Lists,
        other => return Err(Error::Form(other.to_owned())),
    })
}

/// The matrix with the first entry that differs, as it is and as it should be. One number is
/// no map.
fn maps(kept: &Numbers, outputs: &Outputs, verdict: &Verdict) -> Option<Value> {
    let (sizes, part) = verdict.first_entry()?;
    let case = kept.cases.iter().position(|case| case.sizes == sizes)?;
    let Outcome::Value(parts) = outputs.cases.get(case)? else { return None };
    let (is, should) = (parts.get(part)?, kept.cases[case].right.get(part)?);
    (should.len() > 1).then(|| json!({ "is": rows(is), "should": rows(should) }))
}

fn rows(matrix: &Matrix) -> Value {
    matrix
        .row_iter()
        .map(|row| row.iter().map(|&x| number(x)).collect::<Value>())
        .collect()
}

#[cfg(test)]
mod tests;
