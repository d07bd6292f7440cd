//! One step of set-up or of verifying: a tool run to its end, its output in a log, the
//! log's end in the error; and what need not be done again.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::paths;

/// Does `work` unless it was done from the same `ingredients` before.
///
/// The ingredients are kept as they are, not as a hash: a person can see what changed.
pub fn once(
    name: &str,
    ingredients: &str,
    work: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let stamp = stamp(name);
    if fs::read_to_string(&stamp).is_ok_and(|before| before == ingredients) {
        return Ok(());
    }
    // An interrupted step must not look done.
    let _ = fs::remove_file(&stamp);
    work()?;
    write(&stamp, ingredients)
}

/// Runs a tool to its end.
pub fn run(name: &str, command: &mut Command) -> Result<()> {
    let log = paths::state().join("log").join(format!("{name}.log"));
    let output = create(&log)?;
    let status = command
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .status()
        .with_context(|| format!("{:?} could not be started", command.get_program()))?;
    if !status.success() {
        bail!("{name} failed ({status}); the end of {}:\n{}", log.display(), tail(&log));
    }
    Ok(())
}

/// Installs a program of a package from crates.io into `.learn/tools`, its log under
/// `name`.
pub fn install(name: &str, package: &str, version: &str) -> Result<()> {
    let tools = paths::state().join("tools");
    let target = tools.join("target");
    let mut cargo = Command::new("cargo");
    cargo
        .args(["install", "--locked", "--version", version, "--root"])
        .arg(tools)
        .arg(package)
        // Not into the workspace's target, where it would rebuild what is shared.
        .env("CARGO_TARGET_DIR", &target)
        .env_remove("RUSTFLAGS");
    run(name, &mut cargo)?;
    // Up to 1.5 GB that nothing needs again.
    let _ = fs::remove_dir_all(target);
    Ok(())
}

/// The last lines of a log, for an error.
pub fn tail(log: &PathBuf) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

/// Creates a file, and the folders above it.
pub fn create(path: &PathBuf) -> Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .with_context(|| format!("{} could not be made", folder.display()))?;
    }
    File::create(path).with_context(|| format!("{} could not be written", path.display()))
}

/// Writes a file unless it holds just that, so that times of change mean something.
pub fn write(path: &PathBuf, text: &str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|before| before == text) {
        return Ok(());
    }
    create(path)?;
    fs::write(path, text)
        .with_context(|| format!("{} could not be written", path.display()))
}

fn stamp(name: &str) -> PathBuf {
    paths::state().join("done").join(name)
}
