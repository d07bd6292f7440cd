//! The set holds: in folders of its own, so that a reader's answers neither hide a fault nor
//! count as one.

use std::env::consts::EXE_EXTENSION;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use catalogue::Exercise;
use workshop::lock::Lock;
use workshop::progress::Progress;
use workshop::{paths, step};

use crate::mistakes::{self, Task};
use crate::package::Package;
use crate::{answers, rustlings};

/// Everything that the set promises.
///
/// # Errors
/// The first promise that is not kept.
pub fn verify(bar: &Progress, path: &OsStr) -> Result<String> {
    let program = own_program()?;
    let exercises = catalogue::all()?;
    let wait = || bar.set_message("exercises: another verify is at work on them");
    let _lock = Lock::wait(&paths::state().join("exercises.lock"), wait)?;
    bar.set_message("exercises: every mistake, compiled and named");
    let n_answers = mistakes::compared(exercises, Task::Compare)?;

    rustlings::install(bar)?;
    bar.set_message("exercises: each as given, by rustlings");
    let given = as_given(exercises)?;
    step::run("exercises-format", given.cargo().args(["fmt", "--check"]))?;
    step::run(
        "exercises-rustlings",
        rustlings::program()
            .current_dir(&given.folder)
            .args(["dev", "check"])
            .env("CARGO_TARGET_DIR", &given.target)
            .env("PATH", path),
    )?;
    each_as_given_says_where_to_begin(&given, exercises)?;
    bar.set_message("exercises: each solution, checked as a reader does");
    each_solution_passes(&program, exercises)?;
    let n_mistakes: usize = exercises.iter().map(|it| it.sheet.mistakes.len()).sum();
    Ok(format!(
        "{} exercises, {n_mistakes} mistakes named in {n_answers} answers",
        exercises.len()
    ))
}

/// A package with every exercise as given.
fn as_given(exercises: &[Exercise]) -> Result<Package> {
    with_answers("as-given", exercises, |exercise| answers::given(exercise, exercises))
}

/// A package in which every answer is the solution.
fn solutions(exercises: &[Exercise]) -> Result<Package> {
    with_answers("solved", exercises, |exercise| exercise.solution.text.clone())
}

fn with_answers(
    name: &str,
    exercises: &[Exercise],
    text: impl Fn(&Exercise) -> String,
) -> Result<Package> {
    let folder = paths::state().join(name);
    let package = Package {
        answers: folder.join("exercises"),
        // Not where a reader's answers are, which have the same names.
        target: paths::workspace().join("target").join(format!("exercises-{name}")),
        folder,
    };
    remove_others(&package.answers, exercises)?;
    for exercise in exercises {
        step::write(&package.answer(exercise), text(exercise))?;
    }
    package.write(exercises)?;
    // rustlings asks for the folder.
    fs::create_dir_all(package.folder.join("solutions"))?;
    Ok(package)
}

/// Removes what lies in a folder beside the answers to these.
fn remove_others(folder: &Path, exercises: &[Exercise]) -> Result<()> {
    fs::create_dir_all(folder)
        .with_context(|| format!("{} cannot be made", folder.display()))?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if !exercises.iter().any(|it| it.name == name) {
            fs::remove_file(&path)
                .with_context(|| format!("{} cannot be removed", path.display()))?;
        }
    }
    Ok(())
}

/// A reader's first verdict tells how to begin, and is not a compiler's error.
fn each_as_given_says_where_to_begin(
    package: &Package,
    exercises: &[Exercise],
) -> Result<()> {
    step::run("exercises-given", package.cargo().args(["build", "--bins"]))?;
    for exercise in exercises {
        let program = package.target.join("debug").join(&exercise.name);
        let output = Command::new(program).stdin(Stdio::null()).output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let (number, title) = (exercise.number, &exercise.sheet.title);
        let expected =
            format!("○ {number:02} · {title}: not written yet.\n\n  Begin with\n");
        ensure!(
            said.starts_with(&expected) && output.status.code() == Some(1),
            "{} as given ({}) says\n{said}and not\n{expected}",
            exercise.name,
            output.status
        );
    }
    Ok(())
}

/// A copy of this program, which stays when the tests compile the workspace meanwhile: cargo
/// then replaces this program's file.
fn own_program() -> Result<PathBuf> {
    let this = std::env::current_exe().context("this program's own file")?;
    let copy = paths::state().join("learn").with_extension(EXE_EXTENSION);
    step::copy(&this, &copy)?;
    Ok(copy)
}

/// A right answer passes by the command that a reader gives, one by one and all at once.
fn each_solution_passes(program: &Path, exercises: &[Exercise]) -> Result<()> {
    let package = solutions(exercises)?;
    let check = |asked: &[&str], expected: &str| {
        let mut command = Command::new(program);
        command.arg("check").args(asked).arg("--from").arg(&package.answers);
        let output = command.output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        ensure!(
            output.status.success() && said.contains(expected),
            "cargo learn check {} on solutions ({}) says\n{said}{}",
            asked.join(" "),
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(())
    };
    let n = exercises.len();
    check(&[], &format!("\n{n} of {n} passed\n"))?;
    for exercise in exercises {
        let (number, title) = (exercise.number, &exercise.sheet.title);
        check(&[&exercise.name], &format!("✓ {number:02} · {title}: passed."))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_compiled_over_a_readers_programs() {
        let target_of = |package: &Package| {
            let cargo = package.cargo();
            let mut set =
                cargo.get_envs().filter(|(name, _)| *name == "CARGO_TARGET_DIR");
            set.next().and_then(|(_, value)| value.map(PathBuf::from))
        };
        let reader = target_of(&Package::of_the_reader());
        assert_eq!(reader, Some(paths::workspace().join("target/exercises")));
        let target = |name: &str| {
            paths::workspace().join("target").join(format!("exercises-{name}"))
        };
        assert!(["as-given", "solved"].iter().all(|name| Some(target(name)) != reader));
    }
}
