//! The exercises: checked, reset, and worked on with rustlings.
//!
//! ```text
//! set/scale.rs ─▶ as given ─▶ exercises/scale.rs
//!                                    │ a reader's answer
//!    check: compiled, run, stopped ◀─┘
//! ```
//!
//! The one decision: **the answer itself prints the verdict.** An exercise is a program
//! whose `main` calls its check; this module compiles it, runs it and passes on what it
//! says, so that rustlings and this command cannot disagree.
//!
//! Git ignores a reader's files: `answers` writes those that are missing, and only `reset`
//! takes one away, which keeps a copy first. `package` is what they are compiled in.

mod answers;
mod build;
mod check;
mod list;
pub mod mistakes;
mod package;
mod reset;
mod run;
mod rustlings;
mod verify;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, ensure};
use workshop::output::print;
use workshop::step;

use package::Package;

pub use answers::{LEARN_PY, expect_own, prepare};
pub use check::{outcomes, report};
pub use list::{State, note_elsewhere, states};
pub use package::step as hint_step;
pub use run::{ProgramOutput, end_on_ctrl_c, run_checked, run_with_input, run_within};
pub use verify::verify;

/// What is to be checked.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The exercise, by number or name; all of them without one
    pub exercise: Option<String>,
    /// Show a step of the hint, by its number; all steps without one
    #[arg(long, value_name = "STEP", requires = "exercise", conflicts_with = "reset")]
    #[expect(clippy::option_option, reason = "a flag, or a flag with a number")]
    hint: Option<Option<usize>>,
    /// List the exercises: number, file, title, and how each stands
    #[arg(long, conflicts_with_all = ["exercise", "reset"])]
    list: bool,
    /// Give the original of this exercise back, and keep a copy of yours
    #[arg(long, value_name = "EXERCISE", conflicts_with = "exercise")]
    reset: Option<String>,
    /// Check the answers in another folder
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["hint", "reset"])]
    pub from: Option<PathBuf>,
    /// What the tool `tutor` sees to
    #[command(flatten)]
    pub elsewhere: Elsewhere,
}

/// An answer that is no Rust file, or a verdict for a program: the tool `tutor` sees to both.
#[derive(Debug, clap::Args)]
#[group(multiple = true, requires = "exercise", conflicts_with_all = ["hint", "list", "reset"])]
pub struct Elsewhere {
    /// Give the inputs to a program in any language, and read its outputs
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["inputs", "numbers", "from"])]
    pub run: Option<String>,
    /// Write the inputs to a file (.safetensors, .py, or JSON lines), or to standard output (-)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["numbers", "from", "json"])]
    pub inputs: Option<PathBuf>,
    /// Read the outputs from a file (.npz, .npy, .safetensors, or text), or standard input (-)
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub numbers: Option<PathBuf>,
    /// Print the verdict as JSON
    #[arg(long)]
    pub json: bool,
    /// Defend an answer that passes: show the question about it, or answer with a letter
    #[arg(long, value_name = "LETTER", conflicts_with_all = ["run", "inputs", "numbers", "json"])]
    pub defend: Option<Option<String>>,
}

impl Args {
    /// Whether the tool `tutor` is to see to it.
    pub fn is_elsewhere(&self) -> bool {
        let Elsewhere { run, inputs, numbers, json, defend } = &self.elsewhere;
        run.is_some()
            || inputs.is_some()
            || numbers.is_some()
            || *json
            || defend.is_some()
    }
}

/// Checks one exercise or all of them, or gives an original back. False if an answer is
/// not right yet: then its check has said so.
///
/// # Errors
/// An exercise that is not there or cannot be checked, with what to do about it.
pub fn run(args: &Args) -> Result<bool> {
    let exercises = catalogue::all()?;
    let package = package_of(args.from.as_deref(), exercises)?;
    if args.list {
        print(list::list(&package, exercises))?;
        return Ok(true);
    }
    if let Some(asked) = &args.reset {
        let exercise = catalogue::asked(asked)?;
        let given = answers::given(&exercise, exercises);
        reset::reset(&package, &exercise, &given)?;
        return Ok(true);
    }
    let Some(asked) = &args.exercise else {
        run::end_on_ctrl_c();
        return check::all(&package, exercises);
    };
    let exercise = catalogue::asked(asked)?;
    match args.hint {
        Some(None) => {
            print(package::hint(&exercise, exercises))?;
            return Ok(true);
        }
        Some(Some(step)) => {
            let steps = &exercise.sheet.hints;
            ensure!(
                (1..=steps.len()).contains(&step),
                "the hint has steps 1 to {}",
                steps.len()
            );
            print(package::step(step, &steps[step - 1], exercises))?;
            return Ok(true);
        }
        None => {}
    }
    run::end_on_ctrl_c();
    check::one(&package, &exercise)
}

/// The file of the reader's Rust answer, or of that in another folder.
///
/// # Errors
/// A folder that is not there.
pub fn answer(exercise: &catalogue::Exercise, from: Option<&Path>) -> Result<PathBuf> {
    let package = from.map_or_else(|| Ok(Package::of_the_reader()), Package::from)?;
    Ok(package.answer(exercise))
}

/// The package of the reader's answers, or of those in another folder, ready to compile.
fn package_of(from: Option<&Path>, exercises: &[catalogue::Exercise]) -> Result<Package> {
    match from {
        None => {
            prepare()?;
            Ok(Package::of_the_reader())
        }
        Some(folder) => {
            let package = Package::from(folder)?;
            package.write(exercises)?;
            Ok(package)
        }
    }
}

/// Compiles what every answer uses.
///
/// # Errors
/// What does not compile.
pub fn compile() -> Result<()> {
    let mut cargo = Package::of_the_reader().cargo();
    step::run("exercises", cargo.arg("build").args(package::USED))
}

/// Becomes rustlings beside the reader's files.
///
/// # Errors
/// If it cannot be installed or started.
pub fn watch() -> Result<ExitCode> {
    prepare()?;
    rustlings::watch(&Package::of_the_reader())
}
