//! `{{#test name}}`: where a test stands. A page names the test that proves what it says,
//! and not the file, so that tests can move.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The files under `tests` and `crates` that hold each test, by its name.
pub struct Tests(BTreeMap<String, Vec<PathBuf>>);

impl Tests {
    /// Looks for the tests of a workspace.
    ///
    /// # Errors
    /// A folder or a file that cannot be read.
    pub fn of(workspace: &Path) -> Result<Self> {
        let mut tests = Self(BTreeMap::new());
        for folder in ["tests", "crates"].map(|name| workspace.join(name)) {
            if folder.is_dir() {
                tests.collect(workspace, &folder)?;
            }
        }
        Ok(tests)
    }

    fn collect(&mut self, workspace: &Path, folder: &Path) -> Result<()> {
        let entries = fs::read_dir(folder)
            .with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                if !path.ends_with("target") {
                    self.collect(workspace, &path)?;
                }
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let source = fs::read_to_string(&path)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                let place = path.strip_prefix(workspace)?;
                for name in named(&source) {
                    self.0.entry(name.to_owned()).or_default().push(place.to_owned());
                }
            }
        }
        Ok(())
    }

    /// The file and the name, as Markdown; a link, where it is known where the sources are
    /// published.
    ///
    /// # Errors
    /// No test of this name, or several.
    pub fn place(&self, name: &str, sources: Option<&str>) -> Result<String> {
        match self.0.get(name).map(Vec::as_slice).unwrap_or_default() {
            [file] => {
                let file = file.to_string_lossy().replace('\\', "/");
                let place = format!("`{file}`, `{name}`");
                Ok(sources.map_or(place.clone(), |it| format!("[{place}]({it}/{file})")))
            }
            [] => bail!("no test is called {name}"),
            several => bail!("{} tests are called {name}", several.len()),
        }
    }
}

/// The names of a file's tests: `#[test]`, other attributes, `fn name(`.
fn named(source: &str) -> Vec<&str> {
    let mut lines = source.lines().map(str::trim);
    let mut names = Vec::new();
    while lines.any(|line| line == "#[test]") {
        let mut item = lines.by_ref().skip_while(|line| line.starts_with("#["));
        let name =
            item.next().and_then(|line| line.strip_prefix("fn ")?.split('(').next());
        names.extend(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_named_by_its_function_alone() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("tests/a/b.rs", "#[test]\n#[ignore]\nfn one() {}\nfn two() {}\n");
        write("crates/c/src/lib.rs", "mod tests {\n    #[test]\n    fn three() {}\n}\n");
        write("crates/d/src/lib.rs", "#[test]\nfn three() {}\n");
        let tests = Tests::of(folder.path()).unwrap();
        assert_eq!(tests.place("one", None).unwrap(), "`tests/a/b.rs`, `one`");
        let link = tests.place("one", Some("https://a.b/main")).unwrap();
        assert_eq!(link, "[`tests/a/b.rs`, `one`](https://a.b/main/tests/a/b.rs)");
        let refused = |name| tests.place(name, None).unwrap_err().to_string();
        assert_eq!(refused("two"), "no test is called two");
        assert_eq!(refused("three"), "2 tests are called three");
    }
}
