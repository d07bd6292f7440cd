//! A budget of code: no folder holds more lines of it than `budget.txt` allows.
//!
//! A line of code is one that is neither blank nor a comment, and stands in no test: files and
//! modules called `tests`, what a crate has under `tests`, and what follows `#[cfg(test)]` and
//! `mod` at the end of a file are apart. Raising a ceiling is a line in a commit that says why.

use std::fs;
use std::path::{Path, PathBuf};

use workshop::paths;

/// A folder from the workspace's root on and the most lines of code in it, a row each.
const BUDGET: &str = include_str!("budget.txt");

#[test]
fn no_folder_is_over_its_budget() {
    let budget: Vec<(&str, usize)> = BUDGET.lines().map(row).collect();
    let mut over = Vec::new();
    for &(folder, ceiling) in &budget {
        let n = code_in(&paths::workspace().join(folder));
        println!("{folder} {n}");
        if n > ceiling {
            over.push(format!("{folder} has {n} lines of code, and may have {ceiling}"));
        }
    }
    assert!(over.is_empty(), "tests/house/budget.txt:\n{}", over.join("\n"));
}

#[test]
fn every_crate_has_a_budget() {
    let has_one = |folder: &Path| {
        let rows = BUDGET.lines().map(row);
        rows.map(|(of, _)| paths::workspace().join(of)).any(|of| folder.starts_with(of))
    };
    let crates = crate::house::crates();
    assert!(crates.len() > 30, "{} crates were found", crates.len());
    let without: Vec<_> = crates.iter().filter(|folder| !has_one(folder)).collect();
    assert!(without.is_empty(), "tests/house/budget.txt has no {without:?}");
}

#[test]
fn tests_comments_and_blank_lines_are_no_code() {
    let source = "\
//! A file.

/// One.
fn one() {
    two(); // as here
    // Not here.
}

#[cfg(test)]
use super::three;

#[cfg(test)]
mod tests {
    fn four() {}
}
";
    assert_eq!(code(source), 5);
    assert_eq!(code("#[cfg(test)]\nmod tests;\n\nfn one() {}\n"), 3);
}

fn row(line: &str) -> (&str, usize) {
    let (folder, ceiling) = line.split_once(' ').expect("a folder and a number");
    (folder, ceiling.trim().parse().expect("a number"))
}

/// The lines of code in a folder.
fn code_in(folder: &Path) -> usize {
    sources(folder).iter().map(|path| code(&fs::read_to_string(path).unwrap())).sum()
}

/// The sources of a folder that are no tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut sources = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder with a budget") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !["target", "tests"].iter().any(|it| path.ends_with(it)) {
            sources.extend(self::sources(&path));
        } else if name.ends_with(".rs") && name != "tests.rs" {
            sources.push(path);
        }
    }
    sources
}

fn code(source: &str) -> usize {
    let tests = source.find("#[cfg(test)]\nmod tests {").unwrap_or(source.len());
    let is_code = |line: &&str| !line.is_empty() && !line.starts_with("//");
    source[..tests].lines().map(str::trim).filter(is_code).count()
}
