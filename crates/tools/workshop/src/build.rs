//! Programs of this workspace, compiled by cargo, with word of what is being compiled.
//!
//! Each tool of `cargo learn` is a program of its own, so that checking an exercise compiles
//! no book. Where cargo puts a program only cargo knows (a reader may have set another
//! folder, or another platform), and so it is asked.

use std::fmt;
use std::io::{BufRead, BufReader, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::group;
use crate::paths;
use crate::progress::{self, Progress};

/// How a program is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Quickly.
    Dev,
    /// Quickly, beside the tests of the whole workspace: with the features that they settled
    /// on, so that what tests have compiled is not compiled again.
    WithTests,
    /// With optimisation.
    Release,
    /// The same without the features of its package: less to compile.
    Featureless,
}

/// A program that is as its sources are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildOutput {
    /// Its file.
    pub program: PathBuf,
    /// Whether it was there already.
    pub is_fresh: bool,
}

/// Sources that do not compile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotCompiled {
    /// The program that was to be made.
    pub program: String,
    /// What the compiler said.
    pub diagnostics: String,
}

impl fmt::Display for NotCompiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} could not be compiled:\n{}", self.program, self.diagnostics)
    }
}

impl std::error::Error for NotCompiled {}

/// Tools that are compiled quickly. They are always named together, whichever is compiled:
/// so cargo settles on one set of features for all that they share, and compiles it once.
pub const TOGETHER: [&str; 12] = [
    "pages",
    "book",
    "notebooks",
    "terminal",
    "diagnose",
    "train",
    "predict",
    "mistakes",
    "tutor",
    "class",
    "hand-out",
    "zoo",
];

/// Compiles the programs of a tool, where they are not as their sources are, and says where
/// the one is that has the tool's name.
///
/// # Errors
/// [`NotCompiled`].
pub fn tool(name: &str, profile: Profile) -> Result<PathBuf> {
    let mut cargo = match profile {
        Profile::WithTests => cargo_of_checks(),
        Profile::Dev | Profile::Release | Profile::Featureless => cargo(),
    };
    cargo.arg("build");
    match profile {
        Profile::Dev => cargo.args(TOGETHER.iter().flat_map(|tool| ["--package", tool])),
        Profile::WithTests => cargo.args(["--workspace", "--tests", "--bins"]),
        Profile::Release => cargo.args(["--release", "--package", name]),
        Profile::Featureless => {
            cargo.args(["--release", "--no-default-features", "--package", name])
        }
    };
    if profile != Profile::WithTests {
        cargo.args(["--bin", name]);
        // What Jupyter starts, for `notebooks` to put in its place.
        if name == "notebooks" {
            cargo.args(["--bin", "learn-kernel", "--bin", "kernel-cargo"]);
        }
    }
    Ok(program(cargo, name)?.program)
}

/// The cargo that runs this, in the workspace.
pub fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut cargo = Command::new(program);
    cargo.current_dir(paths::workspace());
    cargo
}

/// The same for what is checked. A check compiles `learn` too, with other features: Windows
/// replaces no program that runs, and so it goes to a folder of its own there.
pub fn cargo_of_checks() -> Command {
    let mut cargo = cargo();
    if cfg!(windows) {
        cargo.env("CARGO_TARGET_DIR", paths::workspace().join("target/checks"));
    }
    cargo
}

/// Whether the compiler's standard library for a target is on the machine.
pub fn has_target(target: &str) -> bool {
    let mut rustc =
        Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let said = rustc.args(["--print", "target-libdir", "--target", target]).output();
    said.is_ok_and(|said| {
        let folder = String::from_utf8_lossy(&said.stdout);
        said.status.success() && Path::new(folder.trim()).is_dir()
    })
}

/// Has rustup install that library, some 25 MB.
///
/// # Errors
/// A machine without rustup; what rustup says when it cannot.
pub fn add_target(target: &str) -> Result<()> {
    let mut rustup = Command::new("rustup");
    let said = rustup.args(["target", "add", target]).output();
    let said = said.context("there is no rustup on this machine")?;
    let why = String::from_utf8_lossy(&said.stderr);
    ensure!(
        said.status.success(),
        "rustup: {}",
        why.trim().lines().last().unwrap_or("it failed")
    );
    Ok(())
}

/// Runs a `cargo build` to its end and says where the program of this name is.
///
/// # Errors
/// [`NotCompiled`]; a program that the build does not make.
pub fn program(mut build: Command, name: &str) -> Result<BuildOutput> {
    let format = match std::io::stderr().is_terminal() {
        true => "json-diagnostic-rendered-ansi",
        false => "json",
    };
    build.args(["--color", "never", "--message-format", format]);
    build.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (mut child, _group) =
        group::spawn(&mut build).context("cargo could not be started")?;
    let words = BufReader::new(child.stderr.take().context("piped above")?);
    let messages = BufReader::new(child.stdout.take().context("piped above")?);
    let (found, rest) = thread::scope(|scope| {
        let rest = scope.spawn(|| Compiling::new(name).follow(words));
        (Messages::read(messages, name), rest.join().unwrap_or_default())
    });
    if !child.wait()?.success() {
        let diagnostics = (found.diagnostics + &rest).trim_end().to_owned();
        return Err(NotCompiled { program: name.to_owned(), diagnostics }.into());
    }
    found.built.with_context(|| format!("cargo compiled no program {name}"))
}

/// What cargo says in JSON.
#[derive(Debug, Default)]
struct Messages {
    built: Option<BuildOutput>,
    diagnostics: String,
}

impl Messages {
    fn read(lines: impl BufRead, name: &str) -> Self {
        let mut read = Self::default();
        for line in lines.lines().map_while(Result::ok) {
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            if let Some(text) = message["message"]["rendered"].as_str() {
                read.diagnostics += text;
            }
            // A module for a page is no executable to cargo.
            let files = message["filenames"].as_array().into_iter().flatten();
            let mut modules =
                files.filter_map(Value::as_str).filter(|it| it.ends_with(".wasm"));
            let program = message["executable"].as_str().or_else(|| modules.next());
            // Its tests are a program too, of the same name.
            let is_it =
                message["target"]["name"] == name && message["profile"]["test"] != true;
            if let Some(program) = program.filter(|_| is_it) {
                let is_fresh = message["fresh"] == true;
                read.built = Some(BuildOutput { program: program.into(), is_fresh });
            }
        }
        read
    }
}

/// What cargo says in words while it compiles: counted, and shown as soon as there is
/// anything to wait for.
struct Compiling<'a> {
    program: &'a str,
    n_crates: usize,
    progress: Option<Progress>,
}

impl<'a> Compiling<'a> {
    fn new(program: &'a str) -> Self {
        Self { program, n_crates: 0, progress: None }
    }

    /// Returns all that is not progress.
    fn follow(mut self, words: impl BufRead) -> String {
        let mut rest = String::new();
        for line in words.lines().map_while(Result::ok) {
            match line.trim_start().split_once(' ') {
                Some(("Compiling", package)) => {
                    self.n_crates += 1;
                    let name = package.split(' ').next().unwrap_or(package);
                    self.show(&format!("compiling {name}, crate {}", self.n_crates));
                }
                Some(("Downloading" | "Downloaded" | "Updating" | "Blocking", _)) => {
                    self.show(&line.trim_start().to_lowercase());
                }
                Some(("Locking" | "Adding" | "Finished", _)) => {}
                _ => rest += &format!("{line}\n"),
            }
        }
        rest
    }

    fn show(&mut self, what: &str) {
        let program = self.program;
        let first = || {
            progress::spinner(format!("{program}: compiling (minutes, the first time)"))
        };
        self.progress.get_or_insert_with(first).set_detail(format!("{program}: {what}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_found_among_what_cargo_made() {
        let lines = r#"
{"reason":"compiler-artifact","target":{"name":"book"},"executable":null,"fresh":true}
{"reason":"compiler-message","message":{"rendered":"warning: unused\n"}}
{"reason":"compiler-artifact","target":{"name":"other"},"executable":"/t/other","fresh":true}
{"reason":"compiler-artifact","target":{"name":"book"},"executable":"/t/book","fresh":false}
{"reason":"compiler-artifact","target":{"name":"book"},"profile":{"test":true},"executable":"/t/book-1","fresh":false}
no JSON
"#;
        let read = Messages::read(lines.as_bytes(), "book");
        let book = BuildOutput { program: "/t/book".into(), is_fresh: false };
        assert_eq!(
            (read.built, read.diagnostics),
            (Some(book), "warning: unused\n".into())
        );
        assert_eq!(Messages::read("".as_bytes(), "book").built, None);
    }

    #[test]
    fn what_is_not_progress_is_kept_for_the_error() {
        let words = "   Compiling a v1\nerror: no lock\n    Finished dev\n";
        assert_eq!(Compiling::new("book").follow(words.as_bytes()), "error: no lock\n");
    }
}
