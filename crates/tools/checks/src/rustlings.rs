//! rustlings: its installation, and a session with it.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use workshop::progress::{self, Progress};
use workshop::tool::Tool;
use workshop::{group, step};

use crate::package::{Package, USED};

const RUSTLINGS: Tool = Tool { package: "rustlings", version: "6.5.0" };

/// Becomes rustlings beside the answers, with everything compiled that an answer uses.
pub fn watch(package: &Package) -> Result<ExitCode> {
    package.link(catalogue::all()?)?;
    let bar = progress::spinner("exercises");
    install(&bar)?;
    bar.set_message("exercises: compiling what answers use (half a minute, once)");
    for subcommand in ["build", "clippy"] {
        // An answer that does not compile yet is rustlings' to explain.
        let _ = step::run("exercises", package.cargo().arg(subcommand).args(USED));
    }
    bar.finish_and_clear();
    let mut rustlings = program();
    rustlings.current_dir(&package.folder).env("CARGO_TARGET_DIR", &package.target);
    group::replace(&mut rustlings).context("rustlings cannot be started")
}

/// Installs rustlings where it is missing.
pub fn install(bar: &Progress) -> Result<()> {
    RUSTLINGS.install(bar, "exercises: compiling rustlings (a minute, once)")
}

/// The installed rustlings.
pub fn program() -> Command {
    Command::new(RUSTLINGS.program())
}
