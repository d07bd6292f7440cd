//! A debug build does not time: it has the command built with optimisation, and run.

use std::env;
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result};

use workshop::paths;

/// Whether this program was compiled to be fast.
pub const IS_FAST: bool = !cfg!(debug_assertions);

/// The same command in a release build.
///
/// # Errors
/// cargo does not start.
pub fn run_again() -> Result<ExitStatus> {
    eprintln!(
        "What is timed must be optimised: building `learn` in release (minutes, the first \
         time)."
    );
    Command::new("cargo")
        .args(["run", "--quiet", "--release", "--package", "learn", "--manifest-path"])
        .arg(paths::workspace().join("Cargo.toml"))
        .arg("--")
        .args(env::args_os().skip(1))
        .status()
        .context("cargo could not be started")
}
