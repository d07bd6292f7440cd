//! Snapshots: what a test has checked, shown to the reader.
//!
//! A chapter names a snapshot as its test does: `the_backward_pass_nudge`, wherever
//! under `tests` and `crates` the file lies. The file's name has the test's module in front
//! of it, with `__` between, so that a test can move without a change in any chapter. A snapshot of
//! `name: value` lines also gives single values, so that prose types no number that a
//! program computes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

/// Every snapshot of a workspace, by its name.
pub struct Snapshots(BTreeMap<String, Vec<PathBuf>>);

impl Snapshots {
    /// Looks for snapshots under `tests` and `crates`.
    pub fn of(workspace: &Path) -> Result<Self> {
        let mut found = Self(BTreeMap::new());
        for folder in ["tests", "crates"].map(|name| workspace.join(name)) {
            if folder.is_dir() {
                found.collect(&folder)?;
            }
        }
        Ok(found)
    }

    fn collect(&mut self, folder: &Path) -> Result<()> {
        let entries = fs::read_dir(folder)
            .with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                if entry.file_name() != "target" {
                    self.collect(&path)?;
                }
                continue;
            }
            let Some(stem) = path.file_name().and_then(|name| name.to_str()) else {
                continue;
            };
            let Some(stem) = stem.strip_suffix(".snap") else { continue };
            let name = stem.rsplit("__").next().unwrap_or(stem).to_string();
            self.0.entry(name).or_default().push(path);
        }
        Ok(())
    }

    /// The file of the one snapshot with this name.
    fn path(&self, name: &str) -> Result<&Path> {
        match self.0.get(name).map(Vec::as_slice).unwrap_or_default() {
            [path] => Ok(path),
            [] => bail!("no snapshot {name}"),
            several => {
                let paths = several.iter().map(|path| path.display().to_string());
                let paths = paths.collect::<Vec<_>>().join(", ");
                bail!("{} snapshots are called {name}: {paths}", several.len())
            }
        }
    }

    /// The body of a snapshot, without the header that says where it comes from.
    pub fn body(&self, name: &str) -> Result<String> {
        let path = self.path(name)?;
        let text = fs::read_to_string(path)
            .with_context(|| format!("cannot read the snapshot {}", path.display()))?
            .replace("\r\n", "\n");
        let body = match text
            .strip_prefix("---\n")
            .and_then(|rest| rest.split_once("\n---\n"))
        {
            Some((_, body)) => body.trim_end().trim_start_matches('\n'),
            None => text.trim_end(),
        };
        ensure!(!body.is_empty(), "the snapshot {name} is empty");
        Ok(body.to_string())
    }
}

/// The values that a chapter may name, from the snapshots that it declared.
#[derive(Default)]
pub struct Values(BTreeMap<String, String>);

impl Values {
    /// Adds the `name: value` lines of a snapshot; other lines are passed over.
    pub fn declare(&mut self, snapshots: &Snapshots, of: &str) -> Result<()> {
        let body = snapshots.body(of)?;
        let lines = body.lines().filter_map(|line| line.split_once(": "));
        let mut any = false;
        for (name, value) in lines.filter(|(name, _)| !name.trim().contains(' ')) {
            any = true;
            let (name, value) = (name.trim(), value.trim());
            let before = self.0.insert(name.to_string(), value.to_string());
            ensure!(
                before.is_none_or(|before| before == value),
                "{of} gives {name} another value than an earlier line or snapshot"
            );
        }
        ensure!(any, "the snapshot {of} has no `name: value` line");
        Ok(())
    }

    /// The value with this name.
    pub fn get(&self, name: &str) -> Result<&str> {
        self.0.get(name).map(String::as_str).with_context(|| {
            let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
            match known.is_empty() {
                true => format!(
                    "no value {name}: name a snapshot first, {{{{#values snapshot}}}}"
                ),
                false => format!("no value {name}; there are {}", known.join(", ")),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workspace with this snapshot, called `a`.
    fn workspace(text: &str) -> (tempfile::TempDir, Snapshots) {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "tests/snapshots/stages__x__a.snap", text);
        let snapshots = Snapshots::of(folder.path()).unwrap();
        (folder, snapshots)
    }

    fn write(workspace: &Path, path: &str, text: &str) {
        let path = workspace.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn the_header_is_left_out_and_the_indent_of_the_first_line_is_kept() {
        let (_folder, snapshots) =
            workspace("---\nsource: x.rs\nexpression: y\n---\n  w_q  1\n---\nend\n");
        assert_eq!(snapshots.body("a").unwrap(), "  w_q  1\n---\nend");
    }

    #[test]
    fn a_name_is_of_one_snapshot_wherever_it_lies() {
        let (folder, _) = workspace("a: 1\n");
        let path = "crates/b/src/deep/snapshots/b__deep__tests__one_head_b.snap";
        write(folder.path(), path, "b: 2\n");
        write(folder.path(), "crates/b/target/snapshots/b__one_head_b.snap", "b: 3\n");
        let snapshots = Snapshots::of(folder.path()).unwrap();
        assert_eq!(snapshots.body("one_head_b").unwrap(), "b: 2");
        let error = snapshots.body("b").unwrap_err().to_string();
        assert_eq!(error, "no snapshot b");

        write(folder.path(), "crates/c/snapshots/c__one_head_b.snap", "b: 4\n");
        let error = Snapshots::of(folder.path()).unwrap().body("one_head_b").unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with("2 snapshots are called one_head_b: "), "{error}");
    }

    #[test]
    fn values_are_single_words_with_a_colon() {
        let (_folder, snapshots) =
            workspace("---\nsource: x\n---\na table\nw_o: 262,144\nnot a name: 3\n");
        let mut values = Values::default();
        values.declare(&snapshots, "a").unwrap();
        assert_eq!(values.get("w_o").unwrap(), "262,144");
        assert!(values.get("w_q").unwrap_err().to_string().contains("there are w_o"));
    }

    #[test]
    fn what_is_missing_empty_or_said_twice_is_an_error() {
        let mut values = Values::default();
        let (_folder, twice) = workspace("a: 1\na: 2\n");
        let error = values.declare(&twice, "a").unwrap_err();
        assert!(error.to_string().contains("another value"), "{error}");
        assert!(twice.body("b").unwrap_err().to_string().contains("no snapshot b"));
        let (_folder, empty) = workspace("---\nsource: x\n---\n\n");
        assert!(empty.body("a").is_err());
    }
}
