//! The set holds: on a copy of it with every exercise as given, so that a reader's answers
//! neither hide a fault nor count as one.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::entry::{self, Entry};
use super::{build, files, original, run, rustlings};
use workshop::lock::Lock;
use workshop::progress::Progress;
use workshop::{in_ci, paths, step};

/// Everything that the set promises.
///
/// # Errors
/// The first promise that is not kept.
pub fn verify(bar: &Progress, path: &std::ffi::OsStr) -> Result<String> {
    let edited = edited()?;
    let wait = || bar.set_message("exercises: another verify is at work on them");
    let _lock = alone(wait)?;
    bar.set_message("exercises: the library, and every mistake named");
    let library = files::set();
    let cargo = |args: &[&str]| {
        let mut cargo = cargo_of_its_own(&library);
        cargo.args(args).env("PATH", path);
        cargo
    };
    // The next clippy may warn of what this one does not: that fails where we would see
    // it, and on no reader's machine.
    let deny: &[&str] = if in_ci() { &["--", "-D", "warnings"] } else { &[] };
    // Not `--tests`, which are the answers too.
    for profile in ["dev", "test"] {
        let clippy = ["clippy", "--lib", "--profile", profile];
        step::run("exercises-lints", &mut cargo(&[&clippy, deny].concat()))?;
    }
    let insta = ["insta", "test", "--lib", "--check", "--unreferenced", "reject"];
    step::run("exercises-tests", &mut cargo(&insta))?;
    let mut doc = cargo(&["doc", "--lib", "--no-deps"]);
    if in_ci() {
        doc.env("RUSTDOCFLAGS", "-D warnings");
    }
    step::run("exercises-docs", &mut doc)?;

    rustlings::install(bar)?;
    bar.set_message("exercises: each as given, and each solution");
    let copy = copy_as_given()?;
    step::run("exercises-format", files::cargo(&copy).args(["fmt", "--check"]))?;
    step::run(
        "exercises-rustlings",
        rustlings::program()
            .current_dir(&copy)
            .args(["dev", "check", "--require-solutions"])
            .env("CARGO_TARGET_DIR", target())
            .env("PATH", path),
    )?;
    each_as_given_says_where_to_begin(&copy)?;
    bar.set_message("exercises: each solution, checked as a reader does");
    each_solution_passes(&copy)?;

    let entries = entry::all()?;
    let mistakes = entries.iter().map(mistakes).sum::<Result<usize>>()?;
    let yours = match edited {
        0 => String::new(),
        edited => format!("; {edited} of your own answers left alone"),
    };
    Ok(format!("{} exercises, {mistakes} mistakes named{yours}", entries.len()))
}

/// Exercises on another system: each as given is told there what it is told here, and each
/// solution that it is right.
///
/// `emulator` makes the command that runs a program of `target`.
///
/// # Errors
/// A program that does not compile, or says something else.
pub fn verify_on(
    target: &str,
    names: &[&str],
    emulator: impl Fn(&Path) -> Result<Command>,
) -> Result<()> {
    let _lock = alone(|| {})?;
    let copy = copy_as_given()?;
    let says = |program: &str, expected: &str, code: i32| {
        let mut cargo = cargo_of_its_own(&copy);
        cargo.args(["build", "--target", target, "--bin", program]);
        // What is compiled for an emulator serves nobody twice.
        cargo.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
        let program = workshop::build::program(cargo, program)?.program;
        expect(emulator(&program)?, &copy, expected, code)
    };
    for name in names {
        let messages = messages(&entry::find(name)?)?;
        let (given, rest) = messages.split_once("\n\n✓").context("a right answer")?;
        let (right, _) = rest.split_once("\n\n✗").context("a mistake")?;
        says(name, given, 1)?;
        says(&format!("{name}_sol"), &format!("✓{right}"), 0)?;
    }
    Ok(())
}

/// Another verify would change the copy of the set.
fn alone(wait: impl FnOnce()) -> Result<Lock> {
    Lock::wait(&paths::state().join("exercises.lock"), wait)
}

/// Where everything here is compiled: not where a reader's answers are, which have the
/// same names.
fn target() -> PathBuf {
    paths::workspace().join("target/exercises-as-given")
}

fn cargo_of_its_own(set: &Path) -> Command {
    let mut cargo = files::cargo(set);
    cargo.env("CARGO_TARGET_DIR", target());
    cargo
}

/// How many exercises a reader has changed.
fn edited() -> Result<usize> {
    let mut edited = 0;
    for entry in &entry::all()? {
        let given = original::original(entry)?;
        let answer = fs::read(files::answer(entry)).ok();
        edited += usize::from(answer.is_some_and(|answer| answer != given.as_bytes()));
    }
    Ok(edited)
}

/// The set in `.learn`, with every exercise as given, and the book's contents as far from it
/// as they are here. What is there as it should be is not touched, so that what was compiled
/// from it still counts.
fn copy_as_given() -> Result<PathBuf> {
    let (here, root) = (paths::workspace(), paths::state().join("as-given"));
    let copy = root.join("crates/5-book/exercises");
    let contents = "chapters/SUMMARY.md";
    step::copy(&here.join(contents), &root.join(contents))?;
    for folder in ["solutions", "src", ".cargo"] {
        mirror(&files::set().join(folder), &copy.join(folder))?;
    }
    for file in ["info.toml", "Cargo.lock"] {
        step::copy(&files::set().join(file), &copy.join(file))?;
    }
    let manifest = fs::read_to_string(files::set().join("Cargo.toml"))?;
    let crates = here.join("crates");
    let path = format!("path = {:?}", format!("{}/", crates.display()));
    let manifest = manifest.replace("path = \"../../", path.trim_end_matches('"'));
    step::write(&copy.join("Cargo.toml"), manifest)?;
    let entries = entry::all()?;
    let given = entries.iter().map(|entry| files::inside("exercises", entry));
    let given: Vec<_> = given.map(|path| copy.join(path)).collect();
    remove_others(&copy.join("exercises"), &given)?;
    for (entry, path) in entries.iter().zip(&given) {
        step::write(path, original::original(entry)?)?;
    }
    Ok(copy)
}

/// Removes what lies in a folder beside these files.
fn remove_others(folder: &Path, files: &[PathBuf]) -> Result<()> {
    fs::create_dir_all(folder)
        .with_context(|| format!("{} cannot be made", folder.display()))?;
    for name in names_in(folder)? {
        let old = folder.join(name);
        if !files.contains(&old) {
            fs::remove_file(&old)
                .with_context(|| format!("{} cannot be removed", old.display()))?;
        }
    }
    Ok(())
}

/// Makes one folder what another is.
fn mirror(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("{} cannot be made", to.display()))?;
    let names = names_in(from)?;
    for name in names_in(to)?.difference(&names) {
        let old = to.join(name);
        let removed =
            if old.is_dir() { fs::remove_dir_all(&old) } else { fs::remove_file(&old) };
        removed.with_context(|| format!("{} cannot be removed", old.display()))?;
    }
    for name in &names {
        let (from, to) = (from.join(name), to.join(name));
        if from.is_dir() { mirror(&from, &to)? } else { step::copy(&from, &to)? }
    }
    Ok(())
}

fn names_in(folder: &Path) -> Result<BTreeSet<OsString>> {
    let entries = fs::read_dir(folder)
        .with_context(|| format!("{} cannot be read", folder.display()))?;
    entries.map(|entry| Ok(entry?.file_name())).collect()
}

/// A reader's first verdict tells how to begin, and is not a compiler's error.
fn each_as_given_says_where_to_begin(copy: &Path) -> Result<()> {
    step::run("exercises-given", cargo_of_its_own(copy).args(["build", "--bins"]))?;
    for entry in &entry::all()? {
        let program = build::build(copy, entry.name(), cargo_of_its_own)?;
        let messages = messages(entry)?;
        let (expected, _) = messages.split_once("\n\n✓").context("a right answer")?;
        expect(Command::new(program), copy, expected, 1)?;
    }
    Ok(())
}

/// A right answer passes where a reader writes it, by the command that a reader gives: one
/// by one, and all at once.
fn each_solution_passes(copy: &Path) -> Result<()> {
    let entries = entry::all()?;
    for entry in &entries {
        let [solution, answer] =
            ["solutions", "exercises"].map(|folder| copy.join(files::inside(folder, entry)));
        step::copy(&solution, &answer)?;
    }
    let check = |asked: &[&str], expected: &str| {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("check").args(asked).env(entry::SET, copy);
        let output = command.env("CARGO_TARGET_DIR", target()).output()?;
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
    for entry in &entries {
        let expected = format!("✓ {:02} · {}: passed.", entry.number(), entry.title());
        check(&[entry.name()], &expected)?;
    }
    let n = entries.len();
    check(&[], &format!("\n{n} of {n} passed\n"))
}

/// Runs a program, which must say this and exit with this code.
fn expect(program: Command, set: &Path, expected: &str, code: i32) -> Result<()> {
    let name = format!("{program:?}");
    let said = run::run(program, set)?;
    ensure!(
        said.text.trim() == expected.trim() && said.status.code() == Some(code),
        "{name} ({}) says\n{}\nand not\n{expected}",
        said.status,
        said.text
    );
    Ok(())
}

/// All that the check of an exercise says, as the set's own snapshot has it: to the file as
/// it is given, to a right answer, and to each mistake.
fn messages(entry: &Entry) -> Result<String> {
    let name = format!("exercises__tests__{}.snap", entry.name());
    let path = files::set().join("src/snapshots").join(name);
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let (_, messages) = text.split_once("\n---\n").context("no snapshot")?;
    Ok(messages.to_owned())
}

/// How many mistakes an exercise can name.
fn mistakes(entry: &Entry) -> Result<usize> {
    Ok(messages(entry)?.lines().filter(|line| line.starts_with('✗')).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirror_holds_the_same_and_leaves_what_is_the_same_alone() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir_all(path("from/inner")).unwrap();
        for (file, text) in [("a", "1"), ("b", "2"), ("inner/c", "3")] {
            fs::write(path("from").join(file), text).unwrap();
        }
        let changed = |name: &str| fs::metadata(path(name)).unwrap().modified().unwrap();
        mirror(&path("from"), &path("to")).unwrap();
        let (a, b) = (changed("to/a"), changed("to/b"));
        fs::write(path("from/b"), "two").unwrap();
        fs::write(path("to/inner/left"), "4").unwrap();
        fs::create_dir(path("to/gone")).unwrap();

        mirror(&path("from"), &path("to")).unwrap();
        assert_eq!(changed("to/a"), a);
        assert!(changed("to/b") > b);
        assert_eq!(fs::read_to_string(path("to/b")).unwrap(), "two");
        assert_eq!(names_in(&path("to")).unwrap(), names_in(&path("from")).unwrap());
        let inner = names_in(&path("to/inner")).unwrap();
        assert_eq!(inner, [OsString::from("c")].into());
    }

    #[test]
    fn nothing_is_compiled_over_a_readers_programs() {
        let of = |cargo: &Command| {
            let mut set =
                cargo.get_envs().filter(|(name, _)| *name == "CARGO_TARGET_DIR");
            set.next().and_then(|(_, value)| value.map(PathBuf::from))
        };
        let config = fs::read_to_string(files::set().join(".cargo/config.toml")).unwrap();
        assert!(
            config.contains("target-dir = \"../../../target/exercises\""),
            "{config}"
        );
        assert_eq!(of(&files::cargo(&files::set())), None);
        let verify = of(&cargo_of_its_own(&files::set())).unwrap();
        assert_ne!(verify, paths::workspace().join("target/exercises"));
    }
}
