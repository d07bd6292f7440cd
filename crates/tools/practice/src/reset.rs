//! Gives an original back, and loses nothing.

use std::fs;
use std::path::PathBuf;

use crate::entry::Entry;
use anyhow::{Context, Result};

use super::{files, original};

/// Writes the original in place of the reader's file, of which a copy is kept first.
pub fn reset(entry: &Entry) -> Result<()> {
    let original = original::original(entry)?;
    let path = files::answer(entry);
    let shown = files::inside("crates/exercises/exercises", entry);
    match fs::read(&path) {
        Ok(bytes) if bytes == original.as_bytes() => {
            println!("{} is as it was given: nothing to do", shown.display());
            return Ok(());
        }
        Ok(bytes) => println!("Your file is kept as {}", keep(entry, &bytes)?.display()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("{}", shown.display())),
    }
    fs::write(&path, original).with_context(|| format!("{}", shown.display()))?;
    println!("{} is as it was given", shown.display());
    Ok(())
}

/// Writes a reader's file under the first number that is free.
fn keep(entry: &Entry, bytes: &[u8]) -> Result<PathBuf> {
    let folder = files::set().join("kept");
    fs::create_dir_all(&folder)
        .with_context(|| format!("{} cannot be made", folder.display()))?;
    let mut number = 1;
    loop {
        let name = format!("{}-{number}.rs", entry.name());
        let path = folder.join(&name);
        match fs::File::create_new(&path) {
            Ok(mut file) => {
                std::io::Write::write_all(&mut file, bytes)
                    .with_context(|| format!("{} cannot be written", path.display()))?;
                return Ok(PathBuf::from("crates/exercises/kept").join(name));
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                number += 1
            }
            Err(error) => {
                return Err(error)
                    .with_context(|| format!("{} cannot be written", path.display()));
            }
        }
    }
}
