//! A kernel's start: a folder with everything compiled, its settings, then evcxr.
//!
//! evcxr builds cells in a scratch crate. Left to itself it makes a new one each time,
//! compiles nalgebra into it and resolves versions afresh. Here each kernel is lent a
//! place, `.learn/evcxr/1` and so on: the lowest that no other kernel has. So two open
//! notebooks do not meet, nor do two windows of one, and there are only as many folders
//! as there were ever kernels at once.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use super::place;
use workshop::paths;
use workshop::step;

/// The warm folder that places are copied from.
pub const WARM: &str = "evcxr/warm";

/// Runs a kernel until Jupyter ends it; the argument is Jupyter's connection file.
pub fn run(mut args: impl Iterator<Item = OsString>) -> Result<ExitCode> {
    let connection = args.next().context("the connection file is missing")?;
    let (folder, _lock) = borrow(&place::state("evcxr"))?;
    seed(&folder)?;

    // Not `exec`: the lock is ours for as long as we live, and the system gives it back
    // however we die. Jupyter signals the whole process group, so evcxr dies with us.
    let status = Command::new(place::tool("evcxr_jupyter"))
        .arg("--control_file")
        .arg(connection)
        .env("EVCXR_TMPDIR", &folder)
        .env("EVCXR_CONFIG_DIR", write_settings()?)
        .env("RUST_SRC_PATH", place::state("evcxr/no-std"))
        // The type engine looks for its cargo here first, and finds `analyzer`.
        .env("CARGO_HOME", place::state("tools/bin/analyzer"))
        .env(super::analyzer::CARGO_HOME, cargo_home())
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_TARGET_DIR")
        .status()
        .context("evcxr could not be started; `cargo learn` sets it up")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Puts the workspace's versions before the next resolution. Cargo cuts the file down to
/// what a build uses, so this is done anew for each change of dependencies.
pub fn seed(folder: &Path) -> Result<()> {
    let versions = fs::read_to_string(paths::workspace().join("Cargo.lock"))
        .context("the workspace's Cargo.lock")?;
    step::write(&folder.join("Cargo.lock"), &versions)
}

/// The first place that is free, made from the warm folder if it is new.
fn borrow(places: &Path) -> Result<(PathBuf, File)> {
    fs::create_dir_all(places)?;
    for number in 1_u32.. {
        let lock = File::create(places.join(format!("{number}.lock")))?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => continue,
            Err(TryLockError::Error(error)) => return Err(error.into()),
            Ok(()) => {}
        }
        let folder = places.join(number.to_string());
        let warm = places.join("warm");
        if !folder.exists() && warm.exists() {
            let half = places.join(format!("{number}.half"));
            let _ = fs::remove_dir_all(&half);
            copy(&warm, &half)?;
            fs::rename(&half, &folder)?;
        }
        fs::create_dir_all(&folder)?;
        return Ok((folder, lock));
    }
    unreachable!("there are more numbers than kernels")
}

/// Copies a folder, times of change included: cargo goes by them. What rustc replaces
/// and never writes into, two thirds of the bytes, is linked.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy(&source, &target)?;
            continue;
        }
        let ending = source.extension().and_then(|ending| ending.to_str());
        let replaced = matches!(ending, Some("rlib" | "rmeta"));
        if replaced && fs::hard_link(&source, &target).is_ok() {
            continue;
        }
        fs::copy(&source, &target)?;
        let changed = entry.metadata()?.modified()?;
        File::options().write(true).open(&target)?.set_modified(changed)?;
    }
    Ok(())
}

/// evcxr's start-up file: builds use the real cargo home, where the crates are.
fn write_settings() -> Result<PathBuf> {
    let folder = place::state("evcxr/config");
    let home = cargo_home();
    let text = format!(":build_env CARGO_HOME={}\n", home.display());
    step::write(&folder.join("init.evcxr"), &text)?;
    Ok(folder)
}

/// The user's cargo home, where downloaded crates are.
pub fn cargo_home() -> PathBuf {
    std::env::var_os("CARGO_HOME").map_or_else(
        || std::env::home_dir().unwrap_or_default().join(".cargo"),
        PathBuf::from,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_at_once_get_different_places_and_a_free_one_is_used_again() {
        let places = tempfile::tempdir().unwrap();
        let (first, lock) = borrow(places.path()).unwrap();
        let (second, _other) = borrow(places.path()).unwrap();
        assert_ne!(first, second);
        drop(lock);
        assert_eq!(borrow(places.path()).unwrap().0, first);
    }

    #[test]
    fn a_new_place_is_a_copy_of_the_warm_one_with_its_times() {
        let places = tempfile::tempdir().unwrap();
        let warm = places.path().join("warm/target");
        fs::create_dir_all(&warm).unwrap();
        for name in ["a.rlib", "fingerprint"] {
            fs::write(warm.join(name), name).unwrap();
        }
        let (folder, _lock) = borrow(places.path()).unwrap();
        for name in ["a.rlib", "fingerprint"] {
            let (before, after) = (warm.join(name), folder.join("target").join(name));
            assert_eq!(fs::read_to_string(&after).unwrap(), name);
            let changed = |path| fs::metadata(path).unwrap().modified().unwrap();
            assert_eq!(changed(&before), changed(&after));
        }
        // Written into, not replaced: a copy must not reach back.
        fs::write(folder.join("target/fingerprint"), "new").unwrap();
        assert_eq!(fs::read_to_string(warm.join("fingerprint")).unwrap(), "fingerprint");
    }
}
