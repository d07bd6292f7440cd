//! Programs of this workspace, compiled by cargo, with word of what is being compiled.
//!
//! Each tool of `cargo learn` is a program of its own, so that checking an exercise compiles
//! no book. Where cargo puts a program only cargo knows (a reader may have set another
//! folder), and so it is asked.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::paths;
use crate::progress::{self, Progress};

/// How a program is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Quickly.
    Dev,
    /// With optimisation.
    Release,
}

/// Compiles the program of a tool's package, which has the package's name, if it is not as
/// its sources are, and says where it is.
///
/// # Errors
/// Sources that do not compile: then the compiler has said why.
pub fn tool(package: &str, profile: Profile) -> Result<PathBuf> {
    let mut cargo = cargo();
    cargo.args(["build", "--package", package]);
    if profile == Profile::Release {
        cargo.arg("--release");
    }
    program(&mut cargo, package)
}

/// The cargo that runs this, in the workspace.
pub fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut cargo = Command::new(program);
    cargo.current_dir(paths::workspace());
    cargo
}

/// Runs a `cargo build` to its end and returns where the program of this name is.
///
/// # Errors
/// Sources that do not compile; a program that the build does not make.
pub fn program(build: &mut Command, name: &str) -> Result<PathBuf> {
    build.arg("--message-format=json-render-diagnostics");
    let mut child = build
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cargo could not be started")?;
    let mut compiling = Compiling::new(name);
    let words = BufReader::new(child.stderr.take().context("piped above")?);
    let artifacts = BufReader::new(child.stdout.take().context("piped above")?);
    let (diagnostics, found) = std::thread::scope(|scope| {
        let words = scope.spawn(move || compiling.follow(words));
        let found = executable(artifacts, name);
        (words.join().unwrap_or_default(), found)
    });
    if !child.wait()?.success() {
        bail!("{name} could not be compiled:\n{}", diagnostics.trim_end());
    }
    found.with_context(|| format!("cargo compiled no program {name}"))
}

/// The program of this name among what cargo says it has made.
fn executable(artifacts: impl BufRead, name: &str) -> Option<PathBuf> {
    let mut found = None;
    for line in artifacts.lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let is_it = message["target"]["name"] == name
            && message["target"]["kind"].as_array().is_some_and(|kinds| {
                kinds.iter().any(|kind| kind == "bin" || kind == "example")
            });
        if is_it && let Some(path) = message["executable"].as_str() {
            found = Some(PathBuf::from(path));
        }
    }
    found
}

/// What cargo says while it compiles: counted, and shown once there is anything to wait for.
struct Compiling {
    program: String,
    crates: usize,
    bar: Option<Progress>,
}

impl Compiling {
    fn new(program: &str) -> Self {
        Self { program: program.to_owned(), crates: 0, bar: None }
    }

    /// Returns all that is not progress: warnings and errors.
    fn follow(&mut self, words: impl BufRead) -> String {
        let mut diagnostics = String::new();
        for line in words.lines().map_while(Result::ok) {
            let said = line.trim_start();
            match said.split_once(' ') {
                Some(("Compiling", package)) => self.compiles(package),
                Some((
                    "Downloaded" | "Downloading" | "Updating" | "Locking" | "Blocking",
                    _,
                )) => {
                    self.show(&said.to_lowercase());
                }
                Some(("Finished", _)) => {}
                _ => diagnostics += &format!("{line}\n"),
            }
        }
        diagnostics
    }

    fn compiles(&mut self, package: &str) {
        self.crates += 1;
        let name = package.split(' ').next().unwrap_or(package);
        self.show(&format!("compiling {name}, {}", self.crates));
    }

    fn show(&mut self, what: &str) {
        let program = &self.program;
        let bar = self.bar.get_or_insert_with(|| {
            progress::spinner(format!("{program}: compiling (minutes, the first time)"))
        });
        bar.set_detail(format!("{program}: {what}"));
    }
}
