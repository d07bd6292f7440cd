//! Compiling what the notebooks depend on, before a reader waits for it.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{execute, kernel, place, tools};
use workshop::progress::Progress;
use workshop::{paths, stamp, step};

/// Fills the warm folder: runs the dependency lines of each notebook in a kernel, which
/// has a folder of its own for it. True if there was something to do.
pub fn warm(progress: &Progress) -> Result<bool> {
    let wanted = dependencies(&place::all())?;
    let ingredients = ingredients(&wanted)?;
    let warm = place::state(place::WARM);
    if stamp::holds(&warm, &ingredients) {
        return Ok(false);
    }
    progress.set_message("notebooks: the crates");
    let mut fetch = Command::new("cargo");
    fetch.args(["fetch", "--locked"]).current_dir(paths::workspace());
    step::run("crates", &mut fetch)?;

    let half = place::state("evcxr/warm.half");
    if half.exists() {
        fs::remove_dir_all(&half).with_context(|| half.display().to_string())?;
    }
    fs::create_dir_all(&half)?;
    progress
        .set_message("notebooks: compiling the crates for the kernel (a minute, once)");
    let notebook = place::state("evcxr/warm.ipynb");
    step::write(&notebook, one_kernel(&wanted).to_string())?;
    let result = place::state("evcxr/warmed.ipynb");
    execute::execute(&notebook, &result, Some(&half), &mut |done, all| {
        progress.set_detail(format!(
            "notebooks: compiling the crates for the kernel, {done} of {all} cells"
        ));
    })
    .and_then(|run| run.succeeded())?;
    stamp::seal(&half, &ingredients)?;
    {
        let _alone = kernel::warm_lock(&place::state("evcxr"))?;
        if warm.exists() {
            fs::remove_dir_all(&warm).with_context(|| warm.display().to_string())?;
        }
        fs::rename(&half, &warm).context("the warm folder")?;
    }
    // The first kernel finds its place made.
    kernel::borrow(&place::state("evcxr"))?;
    Ok(true)
}

/// All that decides what is compiled.
fn ingredients(wanted: &BTreeSet<String>) -> Result<String> {
    let lock = paths::workspace().join("Cargo.lock");
    let mut ingredients =
        fs::read_to_string(&lock).with_context(|| lock.display().to_string())?;
    let rustc = Command::new("rustc").arg("-vV").output().context("rustc")?;
    ingredients += &String::from_utf8_lossy(&rustc.stdout);
    // Where the sources are is part of what cargo knows a compiled crate by.
    for folder in [paths::workspace(), place::cargo_home()] {
        ingredients += &format!("{}\n", folder.display());
    }
    ingredients += &fs::read_to_string(place::notebooks().join("evcxr.toml"))?;
    ingredients += &tools::profile();
    ingredients += kernel::BUILD;
    ingredients += &wanted.iter().cloned().collect::<Vec<_>>().join("\n\n");
    Ok(ingredients)
}

/// The dependency lines of each notebook, each set once.
fn dependencies(notebooks: &[PathBuf]) -> Result<BTreeSet<String>> {
    let mut sets = BTreeSet::new();
    for notebook in notebooks {
        let text = fs::read_to_string(notebook)
            .with_context(|| format!("{} could not be read", notebook.display()))?;
        let cells: Value = serde_json::from_str(&text)
            .with_context(|| format!("{} is no notebook", notebook.display()))?;
        sets.insert(dependency_lines(&cells));
    }
    sets.remove("");
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

/// A notebook that compiles each set by itself, as its own notebook will: together, sets
/// may ask for other features of a crate. One kernel does it, which forgets a set before
/// the next.
fn one_kernel(sets: &BTreeSet<String>) -> Value {
    // `1` so that the cell is compiled and run, not only resolved.
    let cells = sets.iter().flat_map(|set| [":clear".to_owned(), format!("{set}1")]);
    let cell = |(number, source): (usize, String)| {
        json!({
            "cell_type": "code", "id": format!("warm-{number}"), "metadata": {},
            "execution_count": null, "outputs": [], "source": source,
        })
    };
    json!({
        "cells": cells.enumerate().map(cell).collect::<Vec<_>>(),
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

    #[test]
    fn a_kernel_forgets_one_set_before_the_next() {
        let sets = ["a", "b"].map(|dep| format!(":dep {dep} = \"1\"\n"));
        let notebook = one_kernel(&BTreeSet::from(sets));
        let cells = notebook["cells"].as_array().unwrap().iter();
        let sources: Vec<_> = cells.map(|cell| execute::text(&cell["source"])).collect();
        let expected = [":clear", ":dep a = \"1\"\n1", ":clear", ":dep b = \"1\"\n1"];
        assert_eq!(sources, expected);
    }

    /// One that is not would be compiled without optimisation.
    #[test]
    fn each_crate_of_ours_that_a_notebook_names_has_its_level() {
        for set in dependencies(&place::all()).unwrap() {
            for line in set.lines().filter(|line| line.contains("path = ")) {
                let name = line.split_whitespace().nth(1).unwrap();
                let fast = tools::FAST.iter().any(|(fast, _)| *fast == name);
                assert!(fast || tools::OURS.contains(&name), "{name} in tools.rs");
            }
        }
    }
}
