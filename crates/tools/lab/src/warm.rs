//! Compiling what the notebooks depend on, before a reader waits for it.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use serde_json::{Value, json};

use super::{execute, kernel, place, tools};
use workshop::paths;
use workshop::step;

/// Fills the warm folder: runs the dependency lines of each notebook in a kernel.
pub fn warm(progress: &ProgressBar) -> Result<()> {
    let lock = paths::workspace().join("Cargo.lock");
    let mut ingredients =
        fs::read_to_string(&lock).with_context(|| lock.display().to_string())?;
    let rustc = Command::new("rustc").arg("-vV").output().context("rustc")?;
    ingredients += &String::from_utf8_lossy(&rustc.stdout);
    // Where the sources are is part of what cargo knows a compiled crate by.
    ingredients += &format!("{}\n", kernel::cargo_home().display());
    ingredients += &fs::read_to_string(place::notebooks().join("evcxr.toml"))?;
    ingredients += tools::PROFILE;
    let wanted = dependencies()?;
    ingredients += &wanted.iter().cloned().collect::<Vec<_>>().join("\n\n");

    step::once("warm", &ingredients, || {
        progress.set_message("notebooks: the crates");
        let mut fetch = Command::new("cargo");
        fetch.args(["fetch", "--locked"]).current_dir(paths::workspace());
        step::run("crates", &mut fetch)?;

        forget_places()?;
        for cell in &wanted {
            progress.set_message("notebooks: compiling the crates for the kernel");
            let notebook = place::state("evcxr/warm.ipynb");
            step::write(&notebook, &one_cell(cell).to_string())?;
            execute::execute(
                &notebook,
                &place::state("evcxr/warmed.ipynb"),
                &mut |_, _| {},
            )
            .and_then(|run| run.succeeded())?;
        }
        let warm = place::state(kernel::WARM);
        fs::rename(place::state("evcxr/1"), &warm).context("the warm folder")
    })
}

/// The dependency lines of each notebook, each set once.
fn dependencies() -> Result<BTreeSet<String>> {
    let mut sets = BTreeSet::new();
    for notebook in place::all()? {
        let text = fs::read_to_string(&notebook)?;
        let cells: Value = serde_json::from_str(&text)
            .with_context(|| format!("{} is no notebook", notebook.display()))?;
        sets.insert(dependency_lines(&cells));
    }
    sets.remove("");
    if sets.is_empty() {
        sets.insert(":dep figures = { path = \"../crates/figures\" }\n".to_owned());
    }
    Ok(sets)
}

fn dependency_lines(notebook: &Value) -> String {
    let cells = notebook["cells"].as_array().into_iter().flatten();
    let sources = cells.map(|cell| execute::text(&cell["source"]));
    let lines = |source: String| -> Vec<String> {
        source
            .lines()
            .filter(|line| line.starts_with(":dep "))
            .map(str::to_owned)
            .collect()
    };
    sources.flat_map(lines).map(|line| line + "\n").collect()
}

/// Folders that were made from other versions; one that a kernel has stays.
fn forget_places() -> Result<()> {
    let _ = fs::remove_dir_all(place::state(kernel::WARM));
    for entry in fs::read_dir(place::state("evcxr"))? {
        let path = entry?.path();
        let numbered = path.file_name().is_some_and(|name| {
            name.to_string_lossy().chars().all(|digit| digit.is_ascii_digit())
        });
        if !numbered {
            continue;
        }
        let lock = fs::File::create(path.with_extension("lock"))?;
        if lock.try_lock().is_ok() {
            fs::remove_dir_all(&path)?;
        }
    }
    Ok(())
}

fn one_cell(source: &str) -> Value {
    // `1` so that the cell is compiled and run, not only resolved.
    let source = format!("{source}1");
    json!({
        "cells": [{
            "cell_type": "code", "id": "warm", "execution_count": null,
            "metadata": {}, "outputs": [], "source": source,
        }],
        "metadata": { "kernelspec": {
            "name": "rust", "display_name": "Rust", "language": "rust",
        }},
        "nbformat": 4, "nbformat_minor": 5,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependency_lines_are_found_in_both_forms_of_a_source() {
        let notebook = json!({ "cells": [
            { "source": "# :dep no" },
            { "source": [":dep a = \"1\"\n", "use a::b;"] },
            { "source": "let x = 1;\n:dep b = \"2\"" },
        ]});
        assert_eq!(dependency_lines(&notebook), ":dep a = \"1\"\n:dep b = \"2\"\n");
    }
}
