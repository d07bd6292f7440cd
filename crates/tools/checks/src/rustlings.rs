//! rustlings: its installation, and a session with it.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use super::files;
use workshop::group;
use workshop::progress::{self, Progress};
use workshop::step;
use workshop::tool::Tool;

const RUSTLINGS: Tool = Tool { package: "rustlings", version: "6.5.0" };

/// Becomes rustlings where the exercises are, with everything compiled that an answer uses.
pub fn watch() -> Result<ExitCode> {
    let bar = progress::spinner("exercises");
    install(&bar)?;
    bar.set_message("exercises: compiling what answers use (a minute, once)");
    for subcommand in ["build", "clippy"] {
        // An answer that does not compile yet is rustlings' to explain.
        let mut cargo = files::cargo(&files::set());
        let _ = step::run("exercises", cargo.args([subcommand, "--lib"]));
    }
    bar.finish_and_clear();
    group::replace(&mut program()).context("rustlings cannot be started")
}

/// Installs rustlings where it is missing.
pub fn install(bar: &Progress) -> Result<()> {
    RUSTLINGS.install(bar, "exercises: compiling rustlings (a minute, once)")
}

/// The installed rustlings, in the folder of the set.
pub fn program() -> Command {
    let mut rustlings = Command::new(RUSTLINGS.program());
    rustlings.current_dir(files::set());
    rustlings
}
