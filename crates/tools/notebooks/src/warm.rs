//! Compiling what the notebooks depend on, before a reader waits for it.
//!
//! Cargo does it, in a crate as evcxr makes one: first for what all notebooks depend on
//! together, so that every processor has work, then for each notebook's own dependencies,
//! which may ask for other features of a crate. Almost always all is there by then.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{execute, kernel, place, tools};
use workshop::progress::Progress;
use workshop::{paths, stamp, step};

/// What evcxr has in the manifest of its crate and the crates that it depends on are known
/// by; their levels of optimisation are [`tools::profile`]'s.
const MANIFEST: &str = r#"
[package]
name = "ctx"
version = "1.0.0"
edition = "2024"

[lib]
crate-type = ["cdylib"]

[profile.dev]
debug = false
strip = "debuginfo"
rpath = true
lto = false
codegen-units = 16
panic = "unwind"

[dependencies]
"#;

/// A notebook's dependencies, as lines of a manifest.
type Dependencies = BTreeSet<String>;

/// The notebooks whose crates are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The first one, and so those that use the same crates: a reader begins with it, while
    /// the others' are compiled.
    First,
    /// All of them.
    All,
}

/// Fills the warm folder. True if there was something to do.
pub fn warm(progress: &Progress, reach: Reach) -> Result<bool> {
    let notebooks = place::all()?;
    let all = all_dependencies(&notebooks)?;
    let first = all_dependencies(&notebooks[..notebooks.len().min(1)])?;
    let [of_first, of_all] = [ingredients(&first)?, ingredients(&all)?];
    let warm = place::state(place::WARM);
    let has_first = stamp::holds(&warm, &of_first);
    if stamp::holds(&warm, &of_all) || (reach == Reach::First && has_first) {
        return Ok(false);
    }
    let (wanted, ingredients) = match reach {
        Reach::First => (first, of_first),
        Reach::All => (all, of_all),
    };
    progress.set_message("notebooks: the crates");
    let mut fetch = Command::new("cargo");
    fetch.args(["fetch", "--locked"]).current_dir(paths::workspace());
    step::run("crates", &mut fetch)?;

    let half = place::state("evcxr/warm.half");
    if half.exists() {
        fs::remove_dir_all(&half).with_context(|| half.display().to_string())?;
    }
    if has_first {
        kernel::copy(&warm, &half)?;
    }
    progress.set_message(match reach {
        Reach::First => "notebooks: compiling the first one's crates (a minute, once)",
        Reach::All => "notebooks: compiling their crates (1 to 3 minutes, once)",
    });
    compile(&half, &wanted.iter().flatten().cloned().collect())?;
    for one in &wanted {
        compile(&half, one)?;
    }
    stamp::seal(&half, &ingredients)?;
    {
        let _alone = kernel::warm_lock(&place::state("evcxr"))?;
        if warm.exists() {
            fs::remove_dir_all(&warm).with_context(|| warm.display().to_string())?;
        }
        step::rename(&half, &warm).context("the warm folder")?;
    }
    // The first kernel finds its place made.
    kernel::borrow(&place::state("evcxr"))?;
    Ok(true)
}

/// Compiles a crate with these dependencies, and nothing else in it, as evcxr would.
fn compile(folder: &Path, dependencies: &Dependencies) -> Result<()> {
    step::write(&folder.join("Cargo.toml"), manifest(dependencies))?;
    step::write(&folder.join("src/lib.rs"), "")?;
    place::seed(folder)?;
    let mut cargo = Command::new("cargo");
    cargo
        .args(["build", "--offline", "--target", &host()?])
        .current_dir(folder)
        .env("PATH", place::path_with_toolchain())
        .env("CARGO_TARGET_DIR", "target")
        .env("CARGO_BUILD_BUILD_DIR", "target")
        .env("CARGO_INCREMENTAL", "0")
        .env("RUSTFLAGS", "-Cprefer-dynamic")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    step::run("kernel-crates", &mut cargo)
}

/// The manifest, in which paths go out from the workspace, as they do not in a notebook.
fn manifest(dependencies: &Dependencies) -> String {
    let workspace = paths::workspace().display().to_string().replace('\\', "/");
    let lines = dependencies
        .iter()
        .map(|line| line.replace("\"../", &format!("\"{workspace}/")) + "\n");
    [MANIFEST.to_owned()].into_iter().chain(lines).collect()
}

/// The platform that evcxr names to cargo: that of the compiler.
fn host() -> Result<String> {
    let said = rustc()?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not say what it compiles for")
}

/// What the compiler says of itself.
fn rustc() -> Result<String> {
    let said = Command::new("rustc").arg("-vV").output().context("rustc")?;
    Ok(String::from_utf8_lossy(&said.stdout).into_owned())
}

/// All that decides what is compiled.
fn ingredients(wanted: &BTreeSet<Dependencies>) -> Result<String> {
    let lock = paths::workspace().join("Cargo.lock");
    let mut ingredients =
        fs::read_to_string(&lock).with_context(|| lock.display().to_string())?;
    ingredients += &rustc()?;
    // Where the sources are is part of what cargo knows a compiled crate by.
    ingredients += &format!("{}\n", place::cargo_home().display());
    ingredients += &tools::profile();
    for one in wanted {
        ingredients += &manifest(one);
    }
    Ok(ingredients)
}

/// The dependencies of each notebook, each set once.
fn all_dependencies(notebooks: &[PathBuf]) -> Result<BTreeSet<Dependencies>> {
    let mut sets = BTreeSet::new();
    for notebook in notebooks {
        let text = fs::read_to_string(notebook)
            .with_context(|| format!("{} could not be read", notebook.display()))?;
        let cells: Value = serde_json::from_str(&text)
            .with_context(|| format!("{} is no notebook", notebook.display()))?;
        sets.insert(dependencies(&cells));
    }
    sets.remove(&Dependencies::new());
    Ok(sets)
}

fn dependencies(notebook: &Value) -> Dependencies {
    let cells = notebook["cells"].as_array().into_iter().flatten();
    let sources = cells.map(|cell| execute::text(&cell["source"]));
    let lines = |source: String| -> Vec<String> {
        source
            .lines()
            .filter_map(|line| line.strip_prefix(":dep "))
            .map(str::to_owned)
            .collect()
    };
    sources.flat_map(lines).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn dependencies_are_found_in_both_forms_of_a_source() {
        let notebook = json!({ "cells": [
            { "source": "# :dep no" },
            { "source": [":dep b = \"1\"\n", "use a::b;"] },
            { "source": "let x = 1;\n:dep a = { path = \"../crates/a\" }" },
        ]});
        let found = dependencies(&notebook);
        assert_eq!(
            found.iter().collect::<Vec<_>>(),
            ["a = { path = \"../crates/a\" }", "b = \"1\""]
        );
        let crates = paths::workspace().join("crates/a");
        let path = format!("a = {{ path = \"{}\" }}\n", crates.display());
        assert!(manifest(&found).ends_with(&(path.replace('\\', "/") + "b = \"1\"\n")));
    }

    /// One that is not would be compiled without optimisation, which is for `figures` only.
    #[test]
    fn each_crate_of_ours_that_a_notebook_names_has_its_level() {
        for set in all_dependencies(&place::all().unwrap()).unwrap() {
            for line in set.iter().filter(|line| line.contains("path = ")) {
                let name = line.split_whitespace().next().unwrap();
                if name == "figures" {
                    continue;
                }
                let fast = tools::FAST.iter().any(|(fast, _)| *fast == name);
                assert!(fast || tools::OURS.contains(&name), "{name} in tools.rs");
            }
        }
    }
}
