//! The set holds: on a copy of it with every exercise as given, so that a reader's answers
//! neither hide a fault nor count as one.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::{check, files, original, rustlings};
use workshop::progress::Progress;
use workshop::{paths, step};

/// Everything that the set promises.
///
/// # Errors
/// The first promise that is not kept.
pub fn verify(bar: &Progress, path: &std::ffi::OsStr) -> Result<String> {
    let edited = edited()?;
    bar.set_message("exercises: the library, and every mistake named");
    let library = files::set();
    let cargo = |args: &[&str]| {
        let mut cargo = files::cargo(&library);
        cargo.args(args).env("PATH", path);
        cargo
    };
    let clippy = ["clippy", "--lib", "--tests", "--", "-D", "warnings"];
    step::run("exercises-lints", &mut cargo(&clippy))?;
    let insta = ["insta", "test", "--lib", "--check", "--unreferenced", "reject"];
    step::run("exercises-tests", &mut cargo(&insta))?;
    step::run(
        "exercises-docs",
        cargo(&["doc", "--lib", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"),
    )?;

    rustlings::install(bar)?;
    bar.set_message("exercises: each as given, and each solution");
    let copy = copy_as_given()?;
    step::run("exercises-format", files::cargo(&copy).args(["fmt", "--check"]))?;
    step::run(
        "exercises-rustlings",
        rustlings::program()
            .current_dir(&copy)
            .args(["dev", "check", "--require-solutions"])
            .env("PATH", path),
    )?;
    each_as_given_says_where_to_begin(&copy)?;

    let entries = exercises::all();
    let mistakes: usize = entries.iter().map(|entry| entry.named().len()).sum();
    let yours = match edited {
        0 => String::new(),
        edited => format!("; {edited} of your own answers left alone"),
    };
    Ok(format!("{} exercises, {mistakes} mistakes named{yours}", entries.len()))
}

/// How many exercises a reader has changed: none may be in the repository itself.
fn edited() -> Result<usize> {
    let mut edited = Vec::new();
    for entry in exercises::all() {
        let given = original::original(entry)?;
        if fs::read(files::answer(entry)).ok().as_deref() != Some(given.as_bytes()) {
            edited.push(entry.name());
        }
    }
    let in_ci = std::env::var_os("CI").is_some();
    ensure!(
        edited.is_empty() || !in_ci,
        "not as given: {}; `cargo learn check --reset NN` for each",
        edited.join(", ")
    );
    Ok(edited.len())
}

/// The set in `.learn`, with every exercise as given.
fn copy_as_given() -> Result<PathBuf> {
    let copy = paths::state().join("exercises");
    let _ = fs::remove_dir_all(&copy);
    for folder in ["exercises", "solutions", "src", ".cargo"] {
        copy_folder(&files::set().join(folder), &copy.join(folder))?;
    }
    for file in ["info.toml", "Cargo.lock"] {
        fs::copy(files::set().join(file), copy.join(file)).context(file)?;
    }
    let manifest = fs::read_to_string(files::set().join("Cargo.toml"))?;
    let crates = paths::workspace().join("crates");
    let path = format!("path = {:?}", format!("{}/", crates.display()));
    let manifest = manifest.replace("path = \"../", path.trim_end_matches('"'));
    fs::write(copy.join("Cargo.toml"), manifest)?;
    for entry in exercises::all() {
        let given = original::original(entry)?;
        fs::write(copy.join(files::inside("exercises", entry)), given)?;
    }
    Ok(copy)
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("{} cannot be made", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("{}", from.display()))? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), &to).with_context(|| format!("{}", to.display()))?;
        }
    }
    Ok(())
}

/// A reader's first verdict tells how to begin, and is not a compiler's error.
fn each_as_given_says_where_to_begin(copy: &Path) -> Result<()> {
    step::run("exercises-given", files::cargo(copy).args(["build", "--bins"]))?;
    for entry in exercises::all() {
        let said = check::run(copy, entry)?;
        let expected = entry.said_as_given();
        ensure!(
            said.text.trim() == expected.trim() && said.status.code() == Some(1),
            "{} as given says\n{}\nand not\n{expected}",
            entry.name(),
            said.text
        );
    }
    Ok(())
}
