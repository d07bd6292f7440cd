//! The exercises: checked, reset, and worked on with rustlings.
//!
//! ```text
//! crates/exercises/solutions/04_scale.rs ─▶ original ─▶ crates/exercises/exercises/04_scale.rs
//!                                                            │ a reader's answer
//!                            check: compiled, run, stopped ◀─┘
//! ```
//!
//! The one decision: **the answer itself prints the verdict.** An exercise is a program
//! whose `main` calls its check; this module compiles it, runs it and passes on what it
//! says, so that rustlings and this command cannot disagree.
//!
//! A reader's file is written in one place only, `reset`, which keeps a copy first.

mod build;
mod check;
mod files;
mod original;
mod reset;
mod run;
mod rustlings;
mod verify;

use anyhow::{Context, Result};
use exercises::Entry;

use crate::output::print;

pub use original::statement;
pub use verify::verify;

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
    if let Some(asked) = &args.reset {
        reset::reset(find(asked)?)?;
        return Ok(true);
    }
    let Some(asked) = &args.exercise else {
        run::end_on_ctrl_c();
        return check::all();
    };
    let entry = find(asked)?;
    if args.hint {
        print(format_args!("{}\n", files::hint(entry)?))?;
        return Ok(true);
    }
    run::end_on_ctrl_c();
    check::one(entry)
}

/// Starts rustlings in the folder of the set.
///
/// # Errors
/// If it cannot be installed or ends badly.
pub fn watch() -> Result<()> {
    rustlings::watch()
}

fn find(asked: &str) -> Result<&'static dyn Entry> {
    exercises::find(asked).with_context(|| {
        let line = |entry: &dyn Entry| {
            let chapter = entry.read().number();
            format!("  {:02}  {:<24} chapter {chapter}", entry.number(), entry.title())
        };
        let list: Vec<String> = exercises::all().into_iter().map(line).collect();
        format!("there is no exercise {asked:?}; there are\n{}", list.join("\n"))
    })
}
