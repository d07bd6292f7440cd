//! The exercises: checked, reset, and worked on with rustlings.
//!
//! ```text
//! solutions/scale.rs ─▶ original ─▶ exercises/scale.rs
//!                                                │ a reader's answer
//!                check: compiled, run, stopped ◀─┘
//! ```
//!
//! The one decision: **the answer itself prints the verdict.** An exercise is a program
//! whose `main` calls its check; this module compiles it, runs it and passes on what it
//! says, so that rustlings and this command cannot disagree.
//!
//! Git ignores a reader's files: `answers` writes those that are missing, `older` finds those
//! of an older checkout, and only `reset` takes one away, which keeps a copy first.

mod answers;
mod build;
mod check;
mod entry;
mod exercise;
mod files;
mod older;
mod original;
mod reset;
mod run;
mod rustlings;
mod verify;

use std::process::ExitCode;

use anyhow::Result;
use workshop::output::print;

pub use answers::prepare;
pub use entry::{Entry, Section, all, find};
pub use original::statement;
pub use verify::{verify, verify_on};

/// What is to be checked.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The exercise, by number or name; all of them without one
    exercise: Option<String>,
    /// Say how to go about it, in steps
    #[arg(long, requires = "exercise", conflicts_with = "reset")]
    hint: bool,
    /// Give the original of this exercise back, and keep a copy of yours
    #[arg(long, value_name = "EXERCISE", conflicts_with = "exercise")]
    reset: Option<String>,
}

/// Checks one exercise or all of them, or gives an original back. False if an answer is
/// not right yet: then its check has said so.
///
/// # Errors
/// An exercise that is not there or cannot be checked, with what to do about it.
pub fn run(args: &Args) -> Result<bool> {
    prepare()?;
    if let Some(asked) = &args.reset {
        reset::reset(&find(asked)?)?;
        return Ok(true);
    }
    let Some(asked) = &args.exercise else {
        run::end_on_ctrl_c();
        return check::all();
    };
    let entry = find(asked)?;
    if args.hint {
        print(format_args!("{}\n", entry.hint()))?;
        return Ok(true);
    }
    run::end_on_ctrl_c();
    check::one(&entry)
}

/// Becomes rustlings in the folder of the set.
///
/// # Errors
/// If it cannot be installed or started.
pub fn watch() -> Result<ExitCode> {
    prepare()?;
    rustlings::watch()
}
