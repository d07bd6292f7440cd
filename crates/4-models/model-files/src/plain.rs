//! Files that end.

use std::path::Path;
use std::{fs, io};

use crate::{Error, Result};

/// The longest file of settings or of a tokenizer that is read: the largest that are in use
/// have 40 MB.
pub(crate) const LONGEST_TEXT: u64 = 1 << 29;

/// The bytes of a plain file; a pipe or a device, which might never end, is not read.
///
/// # Errors
/// [`Error::Read`], also for a file of more than `longest` bytes.
pub(crate) fn read(path: &Path, longest: u64) -> Result<Vec<u8>> {
    let bytes = fs::metadata(path).and_then(|found| match found.is_file() {
        true if found.len() > longest => Err(io::Error::other(format!(
            "it has {} bytes, and more than {longest} are no such file",
            found.len()
        ))),
        true => fs::read(path),
        false => Err(io::Error::other("it is not a regular file")),
    });
    bytes.map_err(|source| Error::Read { path: path.into(), source })
}
