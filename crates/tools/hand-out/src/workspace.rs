//! The project as git tracks it, without the book's set.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use workshop::{paths, step};

use crate::write::PLACE;

/// What is left out: the book's set, and what git would read solutions from.
pub fn is_left_out(file: &str) -> bool {
    let within = |folder: &str| file.starts_with(&format!("{PLACE}/{folder}/"));
    within("set") || within("numbers")
}

/// Copies the project, but for the set.
///
/// # Errors
/// A project that git does not know, or a file that cannot be copied.
pub fn copy(to: &Path) -> Result<()> {
    let from = paths::workspace();
    let mut git = Command::new("git");
    let output = git.args(["ls-files", "-z"]).current_dir(&from).output();
    let output = output.context("git, which says what belongs to the project")?;
    ensure!(
        output.status.success(),
        "git says not what belongs to the project: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let files = String::from_utf8(output.stdout).context("a name that is no text")?;
    for file in files.split_terminator('\0').filter(|file| !is_left_out(file)) {
        let path = from.join(file);
        // Deleted, and not yet for git.
        if fs::metadata(&path).is_ok_and(|it| it.is_file()) {
            step::copy(&path, &to.join(file))?;
        }
    }
    Ok(())
}
