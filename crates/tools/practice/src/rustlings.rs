//! rustlings: its installation, and a session with it.

use std::process::Command;

use anyhow::{Context, Result, bail};
use indicatif::ProgressBar;

use super::files;
use workshop::{paths, progress, step};

/// The version that is installed.
const VERSION: &str = "6.5.0";

/// Starts rustlings where the exercises are, with everything compiled that an answer uses.
pub fn watch() -> Result<()> {
    let bar = progress::spinner("exercises");
    install(&bar)?;
    bar.set_message("exercises: compiling what answers use (a minute, once)");
    for subcommand in ["build", "clippy"] {
        // An answer that does not compile yet is rustlings' to explain.
        let mut cargo = files::cargo(&files::set());
        let _ = step::run("exercises", cargo.args([subcommand, "--lib"]));
    }
    bar.finish_and_clear();
    let status = program().status().context("rustlings cannot be started")?;
    if !status.success() {
        bail!("rustlings ended with {status}");
    }
    Ok(())
}

/// Installs rustlings where it is missing.
pub fn install(bar: &ProgressBar) -> Result<()> {
    step::once("rustlings", VERSION, || {
        bar.set_message("exercises: compiling rustlings (a minute, once)");
        step::install("rustlings", "rustlings", VERSION)
    })
}

/// The installed rustlings, in the folder of the set.
pub fn program() -> Command {
    let name = paths::state().join("tools/bin/rustlings");
    let mut rustlings =
        Command::new(name.with_extension(std::env::consts::EXE_EXTENSION));
    rustlings.current_dir(files::set());
    rustlings
}
