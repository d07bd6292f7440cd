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
    for (name, peer) in [("PyTorch", pytorch(python, "pytorch.py")), (RUST, rust())] {
        match peer {
            Ok(program) => there.push(program),
            Err(why) => missing.push(format!("{name}: skipped: {why:#}")),
        }
    }
    (there, missing)
}

/// A script in the Python that was given, or in the first that has torch.
pub fn pytorch(given: Option<&Path>, script: &str) -> Result<Program> {
    let bar = progress::spinner("peers: a Python that has torch");
    let python = find(given);
    bar.finish_and_clear();
    let script = folder().join(script);
    Ok(Program {
        name: "PyTorch",
        is_peer: true,
        program: python?,
        args: vec![script.to_string_lossy().into_owned()],
    })
}

/// The script of a model that writes, in the Python that was given, or in the first that has
/// llama.cpp.
pub fn llama_cpp(given: Option<&Path>) -> Result<Program> {
    let bar = progress::spinner("peers: a Python that has llama.cpp");
    let found = known(given, &LLAMA);
    bar.finish_and_clear();
    let program = found?.context(
        "no Python here has llama_cpp and numpy. Make an environment (`python3 -m venv E`), \
         compile llama.cpp into it (`E/bin/pip install llama-cpp-python==0.3.9 numpy`: \
         minutes), and name it (`--python E/bin/python`)",
    )?;
    let script = folder().join("llama.py").to_string_lossy().into_owned();
    Ok(Program { name: "llama.cpp", is_peer: true, program, args: vec![script] })
}

/// What a Python must have.
struct Wanted {
    modules: &'static str,
    /// In words.
    named: &'static str,
}

const TORCH: Wanted =
    Wanted { modules: "torch, safetensors.torch", named: "torch and safetensors" };
const LLAMA: Wanted =
    Wanted { modules: "llama_cpp, numpy", named: "llama_cpp and numpy" };

fn find(given: Option<&Path>) -> Result<PathBuf> {
    known(given, &TORCH)?.context(
        "no Python here has torch and safetensors. Make an environment (`python3 -m venv \
         E`), install them (`E/bin/pip install torch safetensors numpy`), and name it \
         (`--python E/bin/python`)",
    )
}

/// The Python that was given, which must have it, or the first that is known and has.
fn known(given: Option<&Path>, wanted: &Wanted) -> Result<Option<PathBuf>> {
    if let Some(python) = given {
        has(python, wanted)?;
        return Ok(Some(python.to_owned()));
    }
    let known = [paths::venv("python"), "python3".into(), "python".into()];
    Ok(known.into_iter().find(|python| has(python, wanted).is_ok()))
}

fn has(python: &Path, wanted: &Wanted) -> Result<()> {
    let output = Command::new(python)
        .args(["-c", &format!("import {}", wanted.modules)])
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{} does not start", python.display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.trim().lines().last().unwrap_or("it says nothing");
        bail!("{} has no {}: {last}", python.display(), wanted.named);
    }
    Ok(())
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
        let refused = find(Some(Path::new("/no/python"))).unwrap_err();
        let refused = format!("{refused:#}");
        assert!(refused.starts_with("/no/python does not start: "), "{refused}");
    }

    #[test]
    #[cfg(unix)]
    fn a_python_without_torch_is_told_with_its_reason() {
        let refused = find(Some(Path::new("false"))).unwrap_err();
        insta::assert_snapshot!(format!("{refused:#}"), @"false has no torch and safetensors: it says nothing");
    }
}
