//! What the zoo computes under PyTorch, kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use sha2::{Digest, Sha256};
use workshop::output::print;
use workshop::{paths, step};

use crate::{outcomes, table};

/// The folder of what is kept.
pub fn kept_folder() -> PathBuf {
    paths::workspace().join("tests/data/zoo")
}

/// A file of the zoo's Python.
pub fn python(name: &str) -> PathBuf {
    paths::workspace().join("crates/tools/zoo/python").join(name)
}

/// A hash of sources, whichever way their lines end.
///
/// # Errors
/// A file that cannot be read.
pub fn hash(files: &[PathBuf]) -> Result<String> {
    let mut hash = Sha256::new();
    for file in files {
        let text = fs::read_to_string(file)
            .with_context(|| format!("{} is not there", file.display()))?;
        hash.update(text.replace("\r\n", "\n"));
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Makes the table of mistakes anew, runs every case and every suite under PyTorch, and keeps
/// what comes out.
pub(crate) fn keep(with: &Path) -> Result<()> {
    let zoo = python("zoo.py");
    step::write(&zoo, table::with_block(&fs::read_to_string(&zoo)?)?)?;
    let (cases, outcomes) = outcomes();
    let given: Value = cases
        .iter()
        .enumerate()
        .map(|(at, case)| {
            let own = outcomes.iter().filter(|it| it.case == at);
            let mut ids: Vec<_> = own.map(|it| it.mistake.map(|it| it.id)).collect();
            ids.extend((at == 0).then_some(Some(crate::DRAWN)));
            case.json(&ids)
        })
        .collect();
    let cases = paths::state().join("zoo-cases.json");
    step::write(&cases, given.to_string())?;
    let mut run = Command::new(with);
    run.arg(python("keep.py")).arg(cases).arg(kept_folder());
    ensure!(run.status().context("no such Python")?.success(), "keep.py failed");
    Ok(print("tests/data/zoo is kept\n")?)
}
