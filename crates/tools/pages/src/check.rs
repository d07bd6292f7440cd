//! What a chapter or page must hold, beyond what a build already refuses.

mod page;
mod resources;
mod sources;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub use resources::pages;
pub use sources::sources;

/// Every file below a folder whose name ends so, sorted.
pub fn files(folder: &Path, suffix: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read the folder {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path, suffix)?);
        } else if path.to_string_lossy().ends_with(suffix) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
