//! Files that end: pipes and devices might not.

use std::io::{Read, Seek};
use std::path::Path;
use std::{fs, io};

use crate::{Error, Result};

/// The longest file of settings or of a tokenizer that is read: the largest that are in use
/// have 40 MB.
const LONGEST_TEXT: u64 = 1 << 29;

/// Why a pointer is not read.
pub const LFS: &str =
    "a pointer of Git LFS, and not the file itself: `git lfs pull` fetches it";

/// What such a pointer begins with.
const LFS_STARTS: &[u8] = b"version https://git-lfs";

/// A plain file, to be read in parts, and its length.
pub fn open(path: &Path) -> io::Result<(fs::File, usize)> {
    let n_bytes = length(path, u64::MAX)?;
    let mut file = fs::File::open(path)?;
    let mut beginning = Vec::new();
    (&mut file).take(LFS_STARTS.len() as u64).read_to_end(&mut beginning)?;
    refuse_pointer(&beginning)?;
    file.rewind()?;
    Ok((file, usize::try_from(n_bytes).unwrap_or(usize::MAX)))
}

/// What a plain file holds.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_up_to(path, u64::MAX)
}

/// What a file of settings or of a tokenizer holds.
///
/// # Errors
/// [`Error::Read`], also for a file that is longer than any of its kind.
pub fn read_text(path: &Path) -> Result<Vec<u8>> {
    read_up_to(path, LONGEST_TEXT)
        .map_err(|source| Error::Read { path: path.into(), source })
}

fn read_up_to(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    length(path, longest)?;
    let bytes = fs::read(path)?;
    refuse_pointer(&bytes)?;
    Ok(bytes)
}

/// How many bytes a plain file has.
fn length(path: &Path, longest: u64) -> io::Result<u64> {
    let found = fs::metadata(path)?;
    match found.len() {
        _ if !found.is_file() => Err(io::Error::other("it is not a regular file")),
        bytes if bytes > longest => Err(io::Error::other(format!(
            "it has {bytes} bytes, and more than {longest} are no such file"
        ))),
        bytes => Ok(bytes),
    }
}

pub fn refuse_pointer(bytes: &[u8]) -> io::Result<()> {
    match bytes.starts_with(LFS_STARTS) {
        true => Err(io::Error::other(LFS)),
        false => Ok(()),
    }
}
