//! Compiles an answer, runs it, and passes on what it says.

use std::process::Command;

use crate::entry::{self, Entry};
use anyhow::{Context, Result};

use super::run::{Said, run};
use super::{build, files};
use workshop::output::print;

/// Checks one exercise, prints all that its check says, and tells whether it passed.
pub fn one(entry: &Entry) -> Result<bool> {
    files::expect_text(entry)?;
    let said = run(compile(entry)?, &files::set())?;
    print(&said.text)?;
    Ok(verdict(&said)?.starts_with('✓'))
}

/// Checks every exercise, says of each how it stands, and tells whether all passed.
pub fn all() -> Result<bool> {
    let entries = entry::all()?;
    let mut passed = 0;
    for entry in &entries {
        let standing = standing(entry).unwrap_or_else(|error| {
            let number = entry.number();
            let title = entry.title();
            let text = format!("{error:#}");
            match text.split_once('\n') {
                Some((first, _)) => format!(
                    "✗ {number:02} · {title}: {}; `cargo learn check {number}` shows more",
                    first.trim_end_matches(['.', ':'])
                ),
                None => format!("✗ {number:02} · {title}: {text}"),
            }
        });
        passed += usize::from(standing.starts_with('✓'));
        print(format_args!("{standing}\n"))?;
    }
    print(format_args!("\n{passed} of {} passed\n", entries.len()))?;
    Ok(passed == entries.len())
}

/// The first line of the verdict.
fn standing(entry: &Entry) -> Result<String> {
    files::expect_text(entry)?;
    let said = run(compile(entry)?, &files::set())?;
    verdict(&said).map(str::to_string)
}

/// The first line of what the check says, under whatever the answer itself printed.
fn verdict(said: &Said) -> Result<&str> {
    let mut lines = said.text.lines();
    let verdict = lines.rfind(|line| line.starts_with(['✓', '✗', '○']));
    let verdict = verdict.filter(|_| said.is_checked);
    verdict.with_context(|| match said.status.code() {
        Some(_) => "it ended without a verdict: does the answer end the program?".to_string(),
        None => format!(
            "it was ended by the system ({}): a function that calls itself without an end, \
             or more memory than there is",
            said.status
        ),
    })
}

fn compile(entry: &Entry) -> Result<Command> {
    Ok(Command::new(build::build(&files::set(), entry.name(), files::cargo)?))
}
