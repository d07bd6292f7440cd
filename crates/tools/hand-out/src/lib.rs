//! A set of exercises for a class: variants and inputs by a seed, without solutions.
//!
//! ```text
//! set/scale.md, set/scale.rs ─▶ a variant, drawn ─▶ its answers, compiled
//!                                     │                     │ on the inputs of the seed
//! FOLDER/students/set, …/numbers ◀────┴─────────────────────┘
//! FOLDER/teacher/solutions, …/hand-out.json
//! ```
//!
//! The one decision: **what is handed out is data, in the form of the book's own.** A set is a
//! folder `set` and a folder `numbers`, as `crates/5-book/exercises` has them, and all that
//! reads those reads these. A sheet that is handed out has the names of mistakes and what is
//! said of each, and no edits; a file has `todo!()` for the answer; and the numbers, which say
//! their seed, are looked up as ever.
//!
//! `draw` draws, `write` writes, and `workspace` copies what git tracks around a set.

mod draw;
#[cfg(test)]
mod tests;
mod workspace;
mod write;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use catalogue::Exercise;
use workshop::output::print;

use draw::Set;

/// A set of exercises for your class, without solutions
///
/// Writes FOLDER/students, which learners get, and FOLDER/teacher with the solutions and with
/// hand-out.json, which says what was drawn. The seed draws a variant of each exercise that
/// has some, and the inputs of all checks. An answer to the book's version, or from a set with
/// another variant, is then named as such.
///
/// FOLDER/students/set and FOLDER/students/numbers take the place of the folders of these names
/// in crates/5-book/exercises. With --students, each student has a folder with the two, and a
/// NAME.zip that replaces them when it is unpacked over a clone. With --workspace,
/// FOLDER/workspace is a whole project without solutions, in which `cargo learn check` works.
///
/// The first run compiles every answer of the bank, which takes some minutes.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder to write, which must not be there yet
    folder: PathBuf,
    /// What variants and inputs are drawn by
    #[arg(long)]
    seed: u64,
    /// Only this exercise, by number or name; may be repeated
    #[arg(long, value_name = "EXERCISE")]
    exercise: Vec<String>,
    /// Draw a set for each student of this file, a name on each line
    #[arg(long, value_name = "FILE")]
    students: Option<PathBuf>,
    /// Write the whole project too, with the set of the class and without solutions
    #[arg(long, conflicts_with = "exercise")]
    workspace: bool,
}

/// Writes what is handed out, all of it or nothing.
///
/// # Errors
/// A folder that is there, names that are no folders, or what keeps a set from being made.
pub fn run(args: &Args) -> Result<()> {
    let folder = &args.folder;
    let shown = folder.display();
    ensure!(
        fs::symlink_metadata(folder).is_err(),
        "{shown} is there already: hand-out writes a new folder and overwrites none"
    );
    let exercises = catalogue::chosen(&args.exercise)?;
    let students = match &args.students {
        Some(file) => Some(draw::students(&read(file)?, file)?),
        None => None,
    };
    let class = Set::of_class(args.seed, &exercises);
    let sets = match &students {
        Some(names) => names
            .iter()
            .map(|name| Set::of_student(args.seed, name, &exercises))
            .collect(),
        None => vec![class.clone()],
    };
    let complete = beside(folder)?;
    let at = complete.path();
    let of_workspace = args.workspace.then_some(&class);
    let seeds = write::all(at, &sets, of_workspace, &exercises)?;
    write::record(&at.join("teacher/hand-out.json"), args.seed, &sets, &seeds)?;
    // Made whole beside it, and only then there.
    let complete = complete.keep();
    fs::rename(&complete, folder).with_context(|| format!("{shown} cannot be made"))?;
    let (n, n_sets) = (exercises.len(), sets.len());
    let sets = if n_sets == 1 { "1 set".to_owned() } else { format!("{n_sets} sets") };
    let mut text = format!(
        "{sets} of {n} exercises, seed {}\n\
         {shown}/students   for your students\n\
         {shown}/teacher    for you alone: the solutions, and hand-out.json\n",
        args.seed
    );
    if args.workspace {
        text += &format!("{shown}/workspace  the project without solutions\n");
    }
    Ok(print(text)?)
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).with_context(|| file.display().to_string())
}

/// A folder that is gone at the end, in the one that the other will stand in.
fn beside(folder: &Path) -> Result<tempfile::TempDir> {
    let parent = folder.parent().filter(|it| !it.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
    let made = tempfile::Builder::new().prefix(".hand-out-").tempdir_in(parent);
    made.with_context(|| parent.display().to_string())
}

/// An exercise in the version that was drawn.
fn version(exercise: &Exercise, variant: Option<&str>) -> catalogue::Result<Exercise> {
    match variant {
        Some(variant) => exercise.varied(variant),
        None => Ok(exercise.clone()),
    }
}
