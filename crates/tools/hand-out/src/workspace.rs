//! The project as git tracks it, without the book's set.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use workshop::{paths, step};

/// Where a set stands in a workspace.
pub const PLACE: &str = "crates/5-book/exercises";

/// What is left out: the book's set, and what git would read solutions from.
pub fn is_left_out(file: &str) -> bool {
    let within = |folder: &str| file.starts_with(&format!("{PLACE}/{folder}/"));
    within("set") || within("numbers")
}

/// The page of a solution, where there is none to show; any other page as it is.
pub fn without_solution(page: &str) -> String {
    if !page.contains(&format!("{PLACE}/set/")) {
        return page.to_owned();
    }
    let title = page.lines().next().unwrap_or_default();
    format!("{title}\n\nThis exercise was handed out without a solution.\n")
}

/// Copies the project, but for the set and what the book says of its solutions.
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
        if !fs::metadata(&path).is_ok_and(|it| it.is_file()) {
            continue;
        }
        if file.starts_with("chapters/solutions/") {
            let page = fs::read_to_string(&path).with_context(|| file.to_owned())?;
            step::write(&to.join(file), without_solution(&page))?;
        } else {
            step::copy(&path, &to.join(file))?;
        }
    }
    Ok(())
}
