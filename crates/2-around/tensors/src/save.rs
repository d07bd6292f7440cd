//! Tensors to a file, all or nothing.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};

use attention::{Matrix, Real};
use safetensors::{Dtype, View};

use crate::error::{Error, Result};
use crate::few_bits::{self, Bits};
use crate::words::shape_text;

/// A number that a file can hold as it is.
pub trait Stored: Real {
    /// What the format calls it.
    const DTYPE: Dtype;
    /// Puts its bytes at the end, the lowest first.
    fn put(self, bytes: &mut Vec<u8>);
}

impl Stored for f64 {
    const DTYPE: Dtype = Dtype::F64;
    fn put(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }
}

impl Stored for f32 {
    const DTYPE: Dtype = Dtype::F32;
    fn put(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }
}

/// A tensor that is to be saved.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTensor {
    name: String,
    shape: Vec<usize>,
    dtype: Dtype,
    bytes: Vec<u8>,
}

impl NewTensor {
    /// A tensor from matrices, which fill it one after the other, row after row.
    ///
    /// # Shapes
    /// `shape` has as many entries as the matrices together.
    ///
    /// # Errors
    /// [`Error::Count`] if it has not.
    pub fn new<'a, T: Stored>(
        name: impl Into<String>,
        shape: &[usize],
        matrices: impl IntoIterator<Item = &'a Matrix<T>>,
    ) -> Result<Self> {
        let (mut bytes, mut found) = (vec![], 0);
        for matrix in matrices {
            found += matrix.len();
            for row in matrix.row_iter() {
                row.iter().for_each(|&number| number.put(&mut bytes));
            }
        }
        Self::of_bytes(name.into(), shape, T::DTYPE, bytes, found)
    }

    /// A tensor of flags, row after row.
    ///
    /// # Errors
    /// [`Error::Count`] if there are not as many as the shape says.
    pub fn flags(
        name: impl Into<String>,
        shape: &[usize],
        flags: &[bool],
    ) -> Result<Self> {
        let bytes = flags.iter().map(|&flag| u8::from(flag)).collect();
        Self::of_bytes(name.into(), shape, Dtype::BOOL, bytes, flags.len())
    }

    /// A tensor of bytes, each a number from 0 to 255, row after row.
    ///
    /// # Errors
    /// [`Error::Count`] if there are not as many as the shape says.
    pub fn bytes(
        name: impl Into<String>,
        shape: &[usize],
        bytes: Vec<u8>,
    ) -> Result<Self> {
        let found = bytes.len();
        Self::of_bytes(name.into(), shape, Dtype::U8, bytes, found)
    }

    /// A matrix in few bits, and its scales.
    ///
    /// # Shapes
    /// `numbers` are `rows · cols`, row after row, and `cols` is even.
    pub(crate) fn in_bits(
        name: &str,
        [rows, cols]: [usize; 2],
        numbers: &[f32],
        bits: Bits,
    ) -> [Self; 2] {
        let packed = numbers.chunks(cols).map(|entries| few_bits::row(entries, bits));
        let (integers, scales): (Vec<_>, Vec<_>) = packed.unzip();
        let dtype = if bits == Bits::Eight { Dtype::I8 } else { Dtype::U8 };
        let tensor = |name: String, dtype: Dtype, all: Vec<Vec<u8>>| {
            let bytes = all.concat();
            let shape = vec![rows, 8 * bytes.len() / dtype.bitsize() / rows];
            Self { name, shape, dtype, bytes }
        };
        let named = format!("{name}{}", few_bits::SCALES);
        [tensor(name.to_owned(), dtype, integers), tensor(named, Dtype::BF16, scales)]
    }

    /// A tensor of so many entries, if that is what the shape says.
    pub(crate) fn of_bytes(
        name: String,
        shape: &[usize],
        dtype: Dtype,
        bytes: Vec<u8>,
        found: usize,
    ) -> Result<Self> {
        let shape = shape.to_vec();
        if shape.iter().copied().try_fold(1, usize::checked_mul) != Some(found) {
            return Err(Error::Count { tensor: name, shape, found });
        }
        Ok(Self { name, shape, dtype, bytes })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its shape as text: `(30, 256)`.
    pub fn shape_text(&self) -> String {
        shape_text(&self.shape)
    }

    /// The kind of its numbers, as the format writes it: `F32`.
    pub fn dtype(&self) -> String {
        self.dtype.to_string()
    }
}

impl View for &NewTensor {
    fn dtype(&self) -> Dtype {
        self.dtype
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        self.bytes.as_slice().into()
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// What to do where a file exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Leave it, and fail.
    Keep,
    /// Put the new one in its place.
    Replace,
}

/// Writes tensors to a file: afterwards it is there in full, or as it was before.
///
/// The bytes go to a second file beside it, which takes its name when it is complete.
///
/// # Errors
/// [`Error::Exists`], also for a file that somebody else put there meanwhile, or
/// [`Error::NoPlace`] if there is no such folder, or if what is there is no file;
/// [`Error::Write`] or [`Error::Format`].
pub fn save(path: &Path, tensors: &[NewTensor], existing: Existing) -> Result<()> {
    let bytes = to_bytes(tensors)?;
    check_destination(path, existing)?;
    let unfinished = unfinished(path);
    let written = File::create_new(&unfinished).and_then(|mut file| {
        file.write_all(&bytes)?;
        file.sync_all()?;
        match existing {
            Existing::Keep => take_free_name(&unfinished, path),
            Existing::Replace => fs::rename(&unfinished, path),
        }
    });
    written.map_err(|source| {
        // It may not exist, and a file left behind is not the error to report.
        let _ = fs::remove_file(&unfinished);
        match source.kind() {
            ErrorKind::AlreadyExists if existing == Existing::Keep && path.exists() => {
                Error::Exists { path: path.into() }
            }
            _ => Error::Write { path: path.into(), source },
        }
    })
}

/// Gives a complete file a name that nobody has, also if others try at the same moment: a
/// link to it fails where a rename would replace what is there.
fn take_free_name(complete: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(complete, path) {
        Ok(()) => fs::remove_file(complete),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
        // A disk that has no links: the name is taken first, and then replaced.
        Err(_) => {
            File::create_new(path)?;
            fs::rename(complete, path).inspect_err(|_| {
                let _ = fs::remove_file(path);
            })
        }
    }
}

/// Says early whether [`save`] could put a file here, before anything is computed.
fn check_destination(path: &Path, existing: Existing) -> Result<()> {
    let no_place = |why| Err(Error::NoPlace { path: path.into(), why });
    if path.file_name().is_none() {
        return no_place("it names no file".to_string());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return no_place(format!("there is no folder {}", folder.display()));
    }
    match (fs::symlink_metadata(path), existing) {
        (Err(_), _) => Ok(()),
        (Ok(found), _) if !found.is_file() => no_place("it is no plain file".to_string()),
        (Ok(_), Existing::Keep) => Err(Error::Exists { path: path.into() }),
        (Ok(_), Existing::Replace) => Ok(()),
    }
}

/// The same before a command reads anything: what it is to write to is a place for a file,
/// and none of its inputs under another name. Errors name its options `--output` and
/// `--force`.
///
/// # Errors
/// [`Error::OutputIsInput`], [`Error::OutputExists`], or [`Error::NoPlace`].
pub fn check_output<'a>(
    output: &Path,
    existing: Existing,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    // What is not there yet is no input.
    let found = fs::canonicalize(output).ok();
    let is_it = |input| found.is_some() && fs::canonicalize(input).ok() == found;
    if inputs.into_iter().any(is_it) {
        return Err(Error::OutputIsInput { path: output.into() });
    }
    check_destination(output, existing).map_err(|error| match error {
        Error::Exists { .. } => Error::OutputExists { exists: error.into() },
        error => error,
    })
}

/// The bytes of a safetensors file with these tensors.
///
/// # Errors
/// [`Error::Format`].
pub fn to_bytes(tensors: &[NewTensor]) -> Result<Vec<u8>> {
    to_bytes_with(tensors, &[])
}

/// The same with texts, which [`TensorFile::text`](crate::TensorFile::text) gives back.
///
/// # Errors
/// [`Error::Format`].
pub fn to_bytes_with(tensors: &[NewTensor], texts: &[(&str, &str)]) -> Result<Vec<u8>> {
    let named = tensors.iter().map(|tensor| (&tensor.name, tensor));
    let owned = |(key, text): &(&str, &str)| ((*key).to_owned(), (*text).to_owned());
    let texts = (!texts.is_empty()).then(|| texts.iter().map(owned).collect());
    Ok(safetensors::serialize(named, texts)?)
}

/// Beside the file, since a rename does not cross from one disk to another. Of a long name
/// only the start: the whole of it may be as long as a name can be.
fn unfinished(path: &Path) -> PathBuf {
    static NTH: AtomicUsize = AtomicUsize::new(0);
    let (process, nth) = (process::id(), NTH.fetch_add(1, Ordering::Relaxed));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let start: String = name.chars().take(40).collect();
    path.with_file_name(format!(".{start}.{process}.{nth}.unfinished"))
}

#[cfg(test)]
mod tests;
