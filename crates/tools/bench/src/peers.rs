//! The peers: PyTorch in a Python that has it, candle and burn in a program of their own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use super::side::Program;
use workshop::{paths, progress, step};

/// What the program with candle and burn is called.
pub const RUST: &str = "candle and burn";

/// Every peer that is there, and for each that is not, why.
pub fn all(python: Option<&Path>) -> (Vec<Program>, Vec<String>) {
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for (name, peer) in
        [(PYTORCH.name, PYTORCH.with(python, "pytorch.py")), (RUST, rust())]
    {
        match peer {
            Ok(program) => there.push(program),
            Err(why) => missing.push(format!("{name}: skipped: {why:#}")),
        }
    }
    (there, missing)
}

/// A peer that a script in Python calls.
pub struct InPython {
    pub name: &'static str,
    /// What a Python must have.
    modules: &'static str,
    /// The same in words.
    named: &'static str,
    /// How it comes into an environment E.
    install: &'static str,
}

pub const PYTORCH: InPython = InPython {
    name: "PyTorch",
    modules: "torch, safetensors.torch",
    named: "torch and safetensors",
    install: "install them (`E/bin/pip install torch safetensors numpy`)",
};

/// For a whole model that writes.
#[cfg(feature = "whole-models")]
pub const LLAMA_CPP: InPython = InPython {
    name: "llama.cpp",
    modules: "llama_cpp, numpy",
    named: "llama_cpp and numpy",
    install: "compile llama.cpp into it (`E/bin/pip install -r \
              crates/tools/bench/peers/requirements.txt`: minutes)",
};

impl InPython {
    /// A script in the Python that was given, or in the first that has what it needs.
    pub fn with(&self, given: Option<&Path>, script: &str) -> Result<Program> {
        let bar = progress::spinner(format!("peers: a Python that has {}", self.name));
        let python = self.find(given);
        bar.finish_and_clear();
        let script = folder().join(script).to_string_lossy().into_owned();
        Ok(Program {
            name: self.name,
            is_peer: true,
            program: python?,
            args: vec![script],
        })
    }

    fn find(&self, given: Option<&Path>) -> Result<PathBuf> {
        if let Some(python) = given {
            self.is_in(python)?;
            return Ok(python.to_owned());
        }
        let known = [paths::venv("python"), "python3".into(), "python".into()];
        let found = known.into_iter().find(|python| self.is_in(python).is_ok());
        found.with_context(|| {
            format!(
                "no Python here has {}. Make an environment (`python3 -m venv E`), {}, and \
                 name it (`--python E/bin/python`)",
                self.named, self.install
            )
        })
    }

    fn is_in(&self, python: &Path) -> Result<()> {
        let output = Command::new(python)
            .args(["-c", &format!("import {}", self.modules)])
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("{} does not start", python.display()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.trim().lines().last().unwrap_or("it says nothing");
            bail!("{} has no {}: {last}", python.display(), self.named);
        }
        Ok(())
    }
}

/// Built if it is not there yet, or was changed.
fn rust() -> Result<Program> {
    let (package, target) = (folder().join("rust"), paths::state().join("peers"));
    let bar = progress::spinner("peers: compiling candle and burn (minutes, once)");
    let built = step::run(
        "bench-peers",
        Command::new("cargo")
            .args(["build", "--release", "--locked", "--manifest-path"])
            .arg(package.join("Cargo.toml"))
            .env("CARGO_TARGET_DIR", &target)
            .env_remove("RUSTFLAGS"),
    );
    bar.finish_and_clear();
    built?;
    let program = target.join("release").join("rust-peers");
    let program = program.with_extension(std::env::consts::EXE_EXTENSION);
    ensure!(program.exists(), "{} was not built", program.display());
    Ok(Program { name: RUST, is_peer: true, program, args: vec![] })
}

fn folder() -> PathBuf {
    paths::workspace().join("crates/tools/bench/peers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_python_that_is_none_is_told_by_name() {
        let refused = PYTORCH.find(Some(Path::new("/no/python"))).unwrap_err();
        let refused = format!("{refused:#}");
        assert!(refused.starts_with("/no/python does not start: "), "{refused}");
    }

    #[test]
    #[cfg(unix)]
    fn a_python_without_torch_is_told_with_its_reason() {
        let refused = PYTORCH.find(Some(Path::new("false"))).unwrap_err();
        insta::assert_snapshot!(format!("{refused:#}"), @"false has no torch and safetensors: it says nothing");
    }
}
