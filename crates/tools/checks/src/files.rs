//! The files of the set.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::entry::Entry;

pub use crate::entry::set;
use anyhow::{Context, Result, bail};

use workshop::paths;

/// The file that a reader works in.
pub fn answer(entry: &Entry) -> PathBuf {
    set().join(inside("exercises", entry))
}

/// `exercises/scale.rs`, as messages name it.
pub fn inside(folder: &str, entry: &Entry) -> PathBuf {
    Path::new(folder).join(entry.name()).with_extension("rs")
}

/// Cargo, in a set: its own target folder is named in the set's `.cargo/config.toml`.
pub fn cargo(set: &Path) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(set);
    command
}

/// Refuses what no compiler explains well: a reader's file that is gone, or is not text.
pub fn expect_text(entry: &Entry) -> Result<()> {
    let path = answer(entry);
    let name = paths::shown(&path);
    let number = entry.number();
    let again = format!("`cargo learn check --reset {number}` gives the original back");
    // A pipe would be waited for without end.
    if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
        bail!("{name} is no regular file; {again} and keeps yours");
    }
    match fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("{name} is not there; {again}")
        }
        Err(error) => Err(error).with_context(|| format!("{name} cannot be read")),
        Ok(bytes) => match std::str::from_utf8(&bytes) {
            Ok(_) => Ok(()),
            Err(error) => {
                let at = error.valid_up_to();
                let line = 1 + bytes[..at].iter().filter(|&&byte| byte == b'\n').count();
                bail!(
                    "{name} is not UTF-8 text: byte {at}, in line {line}, is 0x{:02x}. \
                     Save it as UTF-8; or {again} and keeps yours",
                    bytes[at]
                )
            }
        },
    }
}
