//! Snapshots: what a test has checked, shown to the reader.
//!
//! A path is written from the root of the workspace, whole, so that a search for the file
//! finds the chapters that show it. A snapshot of `name: value` lines also gives single
//! values, so that prose types no number that a program computes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// The body of an insta snapshot, without the header that says where it comes from.
pub fn body(workspace: &Path, path: &str) -> Result<String> {
    let text = fs::read_to_string(workspace.join(path))
        .with_context(|| format!("cannot read the snapshot {path}"))?
        .replace("\r\n", "\n");
    let body =
        match text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")) {
            Some((_, body)) => body.trim_end().trim_start_matches('\n'),
            None => text.trim_end(),
        };
    ensure!(!body.is_empty(), "the snapshot {path} is empty");
    Ok(body.to_string())
}

/// The values that a chapter may name, from the snapshots that it declared.
#[derive(Default)]
pub struct Values(BTreeMap<String, String>);

impl Values {
    /// Adds the `name: value` lines of a snapshot; other lines are passed over.
    pub fn declare(&mut self, workspace: &Path, path: &str) -> Result<()> {
        let body = body(workspace, path)?;
        let lines = body.lines().filter_map(|line| line.split_once(": "));
        let mut any = false;
        for (name, value) in lines.filter(|(name, _)| !name.trim().contains(' ')) {
            any = true;
            let (name, value) = (name.trim(), value.trim());
            let before = self.0.insert(name.to_string(), value.to_string());
            ensure!(
                before.is_none_or(|before| before == value),
                "{path} gives {name} another value than an earlier line or snapshot"
            );
        }
        ensure!(any, "the snapshot {path} has no `name: value` line");
        Ok(())
    }

    /// The value with this name.
    pub fn get(&self, name: &str) -> Result<&str> {
        self.0.get(name).map(String::as_str).with_context(|| {
            let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
            match known.is_empty() {
                true => format!(
                    "no value {name}: name a snapshot first, {{{{#values path}}}}"
                ),
                false => format!("no value {name}; there are {}", known.join(", ")),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.snap"), text).unwrap();
        folder
    }

    #[test]
    fn the_header_is_left_out_and_the_indent_of_the_first_line_is_kept() {
        let folder =
            workspace("---\nsource: x.rs\nexpression: y\n---\n  w_q  1\n---\nend\n");
        assert_eq!(body(folder.path(), "a.snap").unwrap(), "  w_q  1\n---\nend");
    }

    #[test]
    fn values_are_single_words_with_a_colon() {
        let folder =
            workspace("---\nsource: x\n---\na table\nw_o: 262,144\nnot a name: 3\n");
        let mut values = Values::default();
        values.declare(folder.path(), "a.snap").unwrap();
        assert_eq!(values.get("w_o").unwrap(), "262,144");
        assert!(values.get("w_q").unwrap_err().to_string().contains("there are w_o"));
    }

    #[test]
    fn what_is_missing_empty_or_said_twice_is_an_error() {
        let mut values = Values::default();
        let twice = workspace("a: 1\na: 2\n");
        let error = values.declare(twice.path(), "a.snap").unwrap_err();
        assert!(error.to_string().contains("another value"), "{error}");
        assert!(body(twice.path(), "b.snap").unwrap_err().to_string().contains("b.snap"));
        assert!(body(workspace("---\nsource: x\n---\n\n").path(), "a.snap").is_err());
    }
}
