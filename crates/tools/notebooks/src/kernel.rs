//! A kernel's start: a folder with everything compiled, its settings, then evcxr.
//!
//! evcxr builds cells in a scratch crate. Left to itself it makes a new one each time,
//! compiles nalgebra into it and resolves versions afresh. Here each kernel is lent a
//! place, `.learn/evcxr/1` and so on: the lowest that no other kernel has. So two open
//! notebooks do not meet, nor do two windows of one, and there are only as many folders
//! as there were ever kernels at once.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use super::place;
use workshop::lock::Lock;
use workshop::{group, parent, stamp, step};

/// Runs a kernel until Jupyter ends it; the argument is Jupyter's connection file.
pub fn run(mut args: impl Iterator<Item = OsString>) -> Result<ExitCode> {
    let connection = args.next().context("the connection file is missing")?;
    let (folder, _lock) = borrow(&place::state("evcxr"))?;
    place::seed(&folder)?;

    // Not `exec`: the lock is ours for as long as we live, and the system gives it back
    // however we die. Evcxr dies with us, and we with a Jupyter that is killed.
    parent::exit_after();
    let mut evcxr = Command::new(place::EVCXR.program());
    evcxr
        .arg("--control_file")
        .arg(connection)
        .env("PATH", place::path_with_toolchain())
        .env("EVCXR_TMPDIR", &folder)
        .env("EVCXR_CONFIG_DIR", write_settings()?)
        .env("RUST_SRC_PATH", place::state("evcxr/no-std"))
        // The type engine looks for its cargo here first, and finds `analyzer`.
        .env("CARGO_HOME", place::state("tools/bin/analyzer"))
        .env(place::REAL_CARGO_HOME, place::cargo_home())
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_TARGET_DIR");
    let status = group::status(&mut evcxr)
        .context("evcxr could not be started; `cargo learn` sets it up")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The first place that is free, made from the warm folder if it is new or was made from
/// an older one.
pub fn borrow(places: &Path) -> Result<(PathBuf, Lock)> {
    for number in 1_u32.. {
        let lock = Lock::try_now(&places.join(format!("{number}.lock")))?;
        let Some(lock) = lock else { continue };
        let folder = places.join(number.to_string());
        let warm = places.join("warm");
        // Set-up does not change the warm folder while it is copied.
        let _still = warm_lock(places)?;
        let wanted = stamp::read(&warm);
        if wanted.is_some() && stamp::read(&folder) != wanted {
            let half = places.join(format!("{number}.half"));
            for old in [&half, &folder] {
                if old.exists() {
                    fs::remove_dir_all(old).with_context(|| old.display().to_string())?;
                }
            }
            copy(&warm, &half)?;
            step::rename(&half, &folder)?;
        }
        fs::create_dir_all(&folder)?;
        return Ok((folder, lock));
    }
    unreachable!("there are more numbers than kernels")
}

/// Held while the warm folder is copied or exchanged.
pub fn warm_lock(places: &Path) -> Result<Lock> {
    Lock::wait(&places.join("warm.lock"), || {})
}

/// Copies a folder, times of change included: cargo goes by them. What rustc replaces
/// and never writes into, two thirds of the bytes, is linked.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
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

/// How builds differ from what evcxr does by itself: our crates are compiled once and need
/// no pieces kept for a next time, and a cell takes a third of a second either way.
const BUILD: &str = ":build_env CARGO_INCREMENTAL=0\n";

/// evcxr's start-up file: builds use the real cargo home, where the crates are.
fn write_settings() -> Result<PathBuf> {
    let folder = place::state("evcxr/config");
    let home = place::cargo_home();
    let text = format!("{BUILD}:build_env CARGO_HOME={}\n", home.display());
    step::write(&folder.join("init.evcxr"), &text)?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soon;

    #[test]
    fn kernels_at_once_get_different_places_and_a_free_one_is_used_again() {
        let places = tempfile::tempdir().unwrap();
        let (first, lock) = borrow(places.path()).unwrap();
        let (second, _other) = borrow(places.path()).unwrap();
        assert_ne!(first, second);
        drop(lock);
        assert!(soon(|| borrow(places.path()).unwrap().0 == first));
    }

    #[test]
    fn a_new_place_is_a_copy_of_the_warm_one_with_its_times() {
        let places = tempfile::tempdir().unwrap();
        let warm = places.path().join("warm/target");
        fs::create_dir_all(&warm).unwrap();
        for name in ["a.rlib", "fingerprint"] {
            fs::write(warm.join(name), name).unwrap();
        }
        stamp::seal(&places.path().join("warm"), "these crates").unwrap();
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

    #[test]
    fn a_place_that_was_made_from_older_crates_is_made_anew_when_it_is_free() {
        let places = tempfile::tempdir().unwrap();
        let warm = places.path().join("warm");
        stamp::seal(&warm, "old").unwrap();
        let (folder, lock) = borrow(places.path()).unwrap();
        fs::write(folder.join("compiled"), "by a kernel").unwrap();
        stamp::seal(&warm, "new").unwrap();
        assert_ne!(borrow(places.path()).unwrap().0, folder);
        assert!(folder.join("compiled").exists(), "a kernel lives here");
        drop(lock);
        assert!(soon(|| borrow(places.path()).unwrap().0 == folder));
        assert!(!folder.join("compiled").exists());
    }
}
