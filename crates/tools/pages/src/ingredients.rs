//! What a book is made from: when none of it has changed, the book that is there will do.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context, Result};
use workshop::paths;

use super::teachers;

/// What a chapter may include lies in these folders.
const FOLDERS: [&str; 3] = ["chapters", "crates", "tests"];

/// What is made in them, and is no source.
const MADE: [&str; 2] = ["target", "assets"];

/// Every file that can show in the book with its size and time, this program (which draws
/// the figures), the reader's benchmark and a teacher's class, one line each.
///
/// # Errors
/// A folder that cannot be read.
pub fn ingredients(workspace: &Path) -> Result<String> {
    let mut lines = Vec::new();
    for folder in FOLDERS {
        list(&workspace.join(folder), &mut lines)?;
    }
    lines.extend(line(&std::env::current_exe()?));
    lines.extend(line(&paths::bench_run()));
    lines.extend(line(&teachers::class_report()));
    lines.sort();
    Ok(lines.concat())
}

fn list(folder: &Path, lines: &mut Vec<String>) -> Result<()> {
    let entries = fs::read_dir(folder)
        .with_context(|| format!("{} cannot be read", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        if entry.file_type()?.is_dir() {
            let is_made = MADE.iter().any(|made| name == *made);
            // The figures' own assets are part of the program.
            if !is_made {
                list(&path, lines)?;
            }
        } else {
            lines.extend(line(&path));
        }
    }
    Ok(())
}

/// A file with its size and time; nothing if it is not there.
fn line(path: &Path) -> Option<String> {
    let data = fs::metadata(path).ok()?;
    let since = data.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let mut line = String::new();
    writeln!(line, "{}, {} bytes, {since:?}", path.display(), data.len()).ok()?;
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changes_or_comes_is_seen_and_what_is_made_is_not() {
        let place = tempfile::tempdir().unwrap();
        for folder in FOLDERS.iter().chain(&["chapters/assets"]) {
            fs::create_dir(place.path().join(folder)).unwrap();
        }
        let write = |name: &str, text| fs::write(place.path().join(name), text).unwrap();
        write("chapters/01.md", "a");
        let first = ingredients(place.path()).unwrap();
        assert_eq!(ingredients(place.path()).unwrap(), first);
        write("chapters/assets/plotly.js", "made");
        assert_eq!(ingredients(place.path()).unwrap(), first);
        write("tests/a.snap", "b");
        let second = ingredients(place.path()).unwrap();
        assert_ne!(second, first);
        write("chapters/01.md", "longer");
        assert_ne!(ingredients(place.path()).unwrap(), second);
    }
}
