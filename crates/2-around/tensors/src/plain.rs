//! Files that end: pipes and devices might not.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, io};

/// Why a pointer is not read.
pub const LFS: &str =
    "a pointer of Git LFS, and not the file itself: `git lfs pull` fetches it";

/// What such a pointer begins with.
const LFS_STARTS: &[u8] = b"version https://git-lfs";

/// A plain file, to be read in parts, and its length.
///
/// # Errors
/// Also for what is no plain file, such as a pipe, which might never end.
pub fn open(path: &Path) -> io::Result<(fs::File, usize)> {
    let n_bytes = length(path, u64::MAX)?;
    let mut file = fs::File::open(path)?;
    let mut beginning = Vec::new();
    (&mut file).take(LFS_STARTS.len() as u64).read_to_end(&mut beginning)?;
    refuse_pointer(&beginning)?;
    file.rewind()?;
    Ok((file, usize::try_from(n_bytes).unwrap_or(usize::MAX)))
}

/// An open file whose numbers are read when they are asked for, so that a model is never in
/// memory twice, and what nothing asks for not once.
#[derive(Debug, Clone)]
pub struct InFile {
    /// What errors call it.
    pub path: PathBuf,
    file: Arc<Mutex<fs::File>>,
}

impl InFile {
    /// Of a file that is open.
    pub fn new(path: &Path, file: fs::File) -> Self {
        Self { path: path.into(), file: Arc::new(Mutex::new(file)) }
    }

    /// `n` bytes from a place on.
    ///
    /// # Errors
    /// Also where the file ends before.
    pub fn read(&self, from: usize, n: usize) -> io::Result<Vec<u8>> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(from as u64))?;
        let mut bytes = vec![0; n];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// All of a plain file.
///
/// # Errors
/// Also for a file that is longer than the longest of its kind.
pub fn read(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
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

/// Refuses what begins as a pointer of Git LFS does.
///
/// # Errors
/// With [`LFS`].
pub fn refuse_pointer(bytes: &[u8]) -> io::Result<()> {
    match bytes.starts_with(LFS_STARTS) {
        true => Err(io::Error::other(LFS)),
        false => Ok(()),
    }
}
