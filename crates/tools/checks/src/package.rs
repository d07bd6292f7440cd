//! The package that compiles answers: made here, in `.learn`, around the reader's files.
//!
//! ```text
//! exercises/scale.rs            the reader's, where they look first
//! .learn/exercises/Cargo.toml   a program for each of them
//!                  info.toml    the set, as rustlings wants it
//!                  exercises    a link to the reader's folder, which rustlings watches
//!                  solutions    which rustlings names once an answer is right
//! ```

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use catalogue::Exercise;
use textwrap::{Options, WordSplitter, fill};
use workshop::{paths, step};

/// What every answer uses, as cargo is asked for it.
pub const USED: [&str; 4] = ["--package", "exercises", "--package", "layers"];

/// A package of answers.
pub struct Package {
    /// Where it is made.
    pub folder: PathBuf,
    /// The folder of the answers.
    pub answers: PathBuf,
    /// Where it is compiled.
    pub target: PathBuf,
}

impl Package {
    /// The reader's own.
    pub fn of_the_reader() -> Self {
        Self {
            folder: paths::state().join("exercises"),
            answers: paths::native(paths::workspace().join("exercises")),
            target: paths::workspace().join("target/exercises"),
        }
    }

    /// Of somebody's answers in another folder.
    pub fn from(answers: &Path) -> Result<Self> {
        let answers = answers
            .canonicalize()
            .with_context(|| format!("there is no folder {}", answers.display()))?;
        Ok(Self {
            folder: paths::state().join("others"),
            answers,
            ..Self::of_the_reader()
        })
    }

    /// The file of an answer.
    pub fn answer(&self, exercise: &Exercise) -> PathBuf {
        self.answers.join(&exercise.name).with_extension("rs")
    }

    /// Cargo, in this package.
    pub fn cargo(&self) -> Command {
        let mut cargo = workshop::build::cargo();
        cargo.current_dir(&self.folder).env("CARGO_TARGET_DIR", &self.target);
        cargo
    }

    /// Writes the package: what is there as it should be is not touched, so that what was
    /// compiled of it still counts.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, exercises: &[Exercise]) -> Result<()> {
        step::write(&self.folder.join("Cargo.toml"), self.manifest(exercises)?)?;
        step::write(&self.folder.join("info.toml"), info(exercises)?)?;
        let lock = "Cargo.lock";
        // Cargo drops what is not used here from its copy, which then stays.
        if !self.folder.join(lock).exists() {
            step::copy(&paths::workspace().join(lock), &self.folder.join(lock))?;
        }
        Ok(())
    }

    fn manifest(&self, exercises: &[Exercise]) -> Result<String> {
        let inside = self.answers.strip_prefix(&self.folder);
        let folder = inside.unwrap_or(&self.answers);
        let mut manifest = "bin = [\n".to_owned();
        for exercise in exercises {
            let name = &exercise.name;
            let path = folder.join(name).with_extension("rs");
            let path = path.display().to_string().replace('\\', "/");
            writeln!(manifest, "  {{ name = {name:?}, path = {path:?} }},")?;
        }
        manifest += "]\n\n[package]\nname = \"answers\"\nedition = \"2024\"\npublish = false\n\n\
            [workspace]\n\n[dependencies]\n";
        for used in ["exercises", "layers"] {
            let path = paths::workspace().join("crates/5-book").join(used);
            let path = path.display().to_string().replace('\\', "/");
            writeln!(manifest, "{used} = {{ path = {path:?} }}")?;
        }
        manifest += LINTS_AND_PROFILES;
        Ok(manifest)
    }

    /// What rustlings looks for beside the package: the answers, under the name that it knows,
    /// and the solutions, which it names once an answer is right.
    ///
    /// # Errors
    /// A link or a file that cannot be made.
    pub fn link(&self, exercises: &[Exercise]) -> Result<()> {
        for exercise in exercises {
            if exercise.sheet.handed_out.is_some() {
                continue;
            }
            let solution = self.folder.join("solutions").join(&exercise.name);
            let text = catalogue::with_numbers(&exercise.solution.text, exercises);
            step::write(&solution.with_extension("rs"), text)?;
        }
        let link = self.folder.join("exercises");
        if fs::canonicalize(&link).ok() == fs::canonicalize(&self.answers).ok() {
            return Ok(());
        }
        let _ = fs::remove_file(&link);
        link_to(&self.answers, &link)
            .with_context(|| format!("{} cannot be made", link.display()))
    }
}

#[cfg(unix)]
fn link_to(folder: &Path, link: &Path) -> Result<()> {
    Ok(std::os::unix::fs::symlink(folder, link)?)
}

/// A junction, which takes no rights of an administrator as a link does.
#[cfg(not(unix))]
fn link_to(folder: &Path, link: &Path) -> Result<()> {
    let mut command = Command::new("cmd");
    command.args(["/c", "mklink", "/J"]).arg(link).arg(folder);
    step::run("exercises-link", &mut command)
}

const LINTS_AND_PROFILES: &str = r#"
[lints.rust]
unsafe_code = "deny"
# An exercise as given uses nothing of what it is handed.
unused_imports = "allow"
unused_variables = "allow"

[lints.clippy]
# rustlings shows clippy's warnings above the verdict, and plain loops are what some
# exercises ask for.
needless_range_loop = "allow"
manual_memcpy = "allow"
explicit_counter_loop = "allow"

# A reader waits for this to be compiled, and not for it to run: a right answer takes
# milliseconds.
[profile.dev]
opt-level = 0
# So that a panic in a product can be traced to the line of the answer.
debug = "line-tables-only"

[profile.dev.package."*"]
debug = false

[profile.dev.package.matrixmultiply]
opt-level = 3
"#;

/// The set for rustlings.
fn info(exercises: &[Exercise]) -> Result<String> {
    let mut info = HEAD.to_owned();
    for exercise in exercises {
        let hint = hint(exercise, exercises);
        let hint = hint.replace('\\', "\\\\").replace("\"\"\"", "'''");
        let name = &exercise.name;
        write!(
            info,
            "\n[[exercises]]\nname = {name:?}\ntest = false\nhint = \"\"\"\n{hint}\"\"\"\n"
        )?;
    }
    Ok(info)
}

const HEAD: &str = r#"format_version = 1

welcome_message = """
Each exercise is one function. The check says what you computed instead, if it is not
what was asked. The book explains it all: `cargo learn` in the root of the project.

To begin an exercise again, `cargo learn check --reset 4` there keeps a copy of yours in
exercises/kept. The x here cannot: it asks git, which leaves your answers alone.
If you saved while a check was running, save once more.
"""

final_message = """
You have written multi-head attention, each step of it, and a test that finds most of
what can go wrong. Now read the layer in crates/1-stages/per-head and crates/1-stages/fused-heads:
there should be no surprise left in it.
"""
"#;

/// All steps of a hint, in lines that fit: rustlings leaves that to the terminal, which breaks
/// lines inside words.
pub fn hint(exercise: &Exercise, exercises: &[Exercise]) -> String {
    let steps = exercise.sheet.hints.iter().zip(1..);
    steps.map(|(step, number)| self::step(number, step, exercises)).collect()
}

/// A step of a hint.
pub fn step(number: usize, step: &str, exercises: &[Exercise]) -> String {
    let options = Options::new(78)
        .subsequent_indent("   ")
        .word_splitter(WordSplitter::NoHyphenation);
    let step = catalogue::with_numbers(step, exercises);
    fill(&format!("{number}. {step}"), options) + "\n"
}
