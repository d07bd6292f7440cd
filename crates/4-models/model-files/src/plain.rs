//! Files that end: pipes and devices might not.

use std::path::Path;
use std::{fs, io};

/// What a plain file holds.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    match fs::metadata(path)?.is_file() {
        true => fs::read(path),
        false => Err(io::Error::other("it is not a regular file")),
    }
}
