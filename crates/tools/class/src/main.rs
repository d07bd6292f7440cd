//! A class: many submissions, each checked in a sandbox, and which mistakes they make.
//!
//! ```text
//! folders, zip files ─▶ submissions ─▶ run: compiled and run in a sandbox
//!                                             │ numbers
//! table, files, comments ◀─ report ◀─ results ◀─ kept numbers, sheets
//! ```
//!
//! The one decision: **the verdict is made outside the sandbox.** A submission's program only
//! gives numbers, and neither the solutions nor the kept numbers are where it runs; so ending
//! early, printing a verdict or changing files gains nothing. The one exception is the exercise
//! in which a test is written: there the submission says of each layer what it thinks, and a
//! secret word says that its check came to the end.

mod page;
mod report;
mod results;
mod run;
mod sandbox;
mod sets;
mod submissions;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use workshop::output::print;
use workshop::{paths, progress, step};

use report::Class;
use run::Runner;
use sandbox::Sandbox;
use sets::Set;
use submissions::Submission;

/// A class's submissions, and which mistakes they make.
#[derive(Parser)]
#[command(name = "cargo learn", bin_name = "cargo learn")]
enum Command {
    Class(Args),
}

/// Check a class's submissions in a sandbox: which mistakes do they make?
///
/// A submission is a folder, a checkout or a .zip. In it, or in its folder `exercises`, NAME.rs
/// is an answer in Rust, NAME.py a program that prints a reply to each line of inputs (as for
/// `cargo learn check NAME --run`), and NAME.json, .jsonl, .txt, .npy, .npz or .safetensors
/// its numbers. No other file is read, and no link is followed.
///
/// Where bubblewrap and prlimit are installed (Debian and Ubuntu: apt install bubblewrap), a
/// program has no network, sees no other file of yours and no other submission, and its memory,
/// time, processes and files are limited. The first line of the report says what was used and
/// what that leaves open. Nothing leaves this machine.
///
/// Runs are kept in .learn/class by the text of the answer: the next time, only what has
/// changed is run.
#[derive(clap::Args)]
struct Args {
    /// Submissions, or folders of submissions
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// Check this exercise alone; may be given several times
    #[arg(long, value_name = "NAME")]
    exercise: Vec<String>,
    /// Write class.csv, class.json, class.html (a page for the projector, without names) and
    /// comments/STUDENT.md here [default: .learn/class/report]
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
    /// The sets that were handed out: FOLDER/set and FOLDER/numbers for all, or
    /// FOLDER/STUDENT/set and FOLDER/STUDENT/numbers for each student
    #[arg(long, value_name = "FOLDER")]
    sets: Option<PathBuf>,
    /// The Python that runs programs
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: String,
}

fn main() -> ExitCode {
    let Command::Class(args) = Command::try_parse().unwrap_or_else(|error| {
        workshop::refuse(&error.to_string(), error.exit_code(), || error.exit())
    });
    workshop::exit(run(&args))
}

fn run(args: &Args) -> Result<()> {
    checks::end_on_ctrl_c();
    let names = catalogue::chosen(&args.exercise)?.into_iter().map(|it| it.name);
    let names: BTreeSet<String> = names.collect();
    let submissions = submissions::read(&args.folders, &names)?;
    let kept = Some(paths::state().join("class/runs"));
    let class =
        checked(submissions, args.sets.as_deref(), Sandbox::found(), kept, &args.python)?;
    let folder = args.to.clone().unwrap_or_else(|| paths::state().join("class/report"));
    write(&class, &folder)?;
    let shown = paths::shown(&folder);
    Ok(print(format_args!(
        "{}\nWritten to {shown}: class.html, class.csv, class.json, comments\n",
        class.text()
    ))?)
}

/// Writes all files of a report.
fn write(class: &Class, folder: &Path) -> Result<()> {
    step::write(&folder.join("class.html"), page::html(class))?;
    class.write(folder)
}

/// Checks all submissions in a sandbox.
fn checked(
    mut submissions: Vec<Submission>,
    sets: Option<&Path>,
    sandbox: Sandbox,
    kept: Option<PathBuf>,
    python: &str,
) -> Result<Class> {
    let bar = progress::spinner("class: compiling what answers use (a minute, once)");
    let sentence = sandbox.sentence();
    let set = |student: &str| Set::of(student, sets);
    let known = results::known(&mut submissions, set);
    let answers = submissions.iter().flat_map(|it| &it.answers);
    let runner = Runner::new(sandbox, kept, answers, python)?;
    bar.set_message(format!("class: {} submissions", submissions.len()));
    let checked = results::checked(&submissions, &known, set, &runner, &bar);
    bar.finish_and_clear();
    Ok(Class::new(sentence, submissions, checked))
}
