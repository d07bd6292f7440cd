//! Where the crates are, for the tests that look at all of them.

use std::fs;
use std::path::PathBuf;

use workshop::paths;

/// The folder of every manifest below `crates`, those of nested workspaces too, in order.
pub fn crates() -> Vec<PathBuf> {
    let mut crates = Vec::new();
    let mut folders = vec![paths::workspace().join("crates")];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).expect("a folder below crates");
        let inner = entries.map(|entry| entry.expect("an entry").path());
        folders.extend(inner.filter(|path| path.is_dir() && !path.ends_with("target")));
        if folder.join("Cargo.toml").is_file() {
            crates.push(folder);
        }
    }
    crates.sort();
    crates
}
