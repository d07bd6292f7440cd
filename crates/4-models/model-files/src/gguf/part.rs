//! Where the numbers of a file are: in memory, or still in the file.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use tensors::plain::{self, InFile};

use super::header::Header;
use super::{GgufError, GgufResult};

/// How much of a file is read first for its header, which holds the vocabulary.
const BEGINNING: usize = 4 << 20;

/// One of the files of a model: most have one.
#[derive(Debug, Clone)]
pub(super) struct Part {
    bytes: Bytes,
    numbers_start: usize,
}

#[derive(Debug, Clone)]
enum Bytes {
    Here(Arc<Vec<u8>>),
    /// Not read yet: the header is all there is.
    ToCome {
        file: String,
        n_bytes: usize,
    },
    InFile {
        file: InFile,
        n_bytes: usize,
    },
}

impl Part {
    /// Bytes that are here, and their header.
    pub(super) fn of_bytes(name: &str, bytes: Vec<u8>) -> GgufResult<(Self, Header)> {
        let header = Header::read(name, &bytes)?;
        let numbers_start = header.numbers_start;
        Ok((Self { bytes: Bytes::Here(Arc::new(bytes)), numbers_start }, header))
    }

    /// The header of a file of `n_bytes` that begins so, if it is complete.
    pub(super) fn begin(
        name: &str,
        bytes: &[u8],
        n_bytes: usize,
    ) -> GgufResult<Option<(Self, Header)>> {
        let header = Header::begin(name, bytes, n_bytes)?;
        let bytes = Bytes::ToCome { file: name.to_string(), n_bytes };
        Ok(header.map(|header| {
            let numbers_start = header.numbers_start;
            (Self { bytes, numbers_start }, header)
        }))
    }

    /// A file whose numbers are left where they are, and its header.
    pub(super) fn open(path: &Path) -> GgufResult<(Self, Header)> {
        let failed = |source| GgufError::Read { path: path.into(), source };
        let (mut file, n_bytes) = plain::open(path).map_err(failed)?;
        let name = path.display().to_string();
        let mut beginning = Vec::new();
        loop {
            let wanted = (2 * beginning.len()).max(BEGINNING).min(n_bytes);
            let more = (wanted - beginning.len()) as u64;
            (&mut file).take(more).read_to_end(&mut beginning).map_err(failed)?;
            // It may have become shorter since.
            let is_all = beginning.len() < wanted;
            let n_bytes = if is_all { beginning.len() } else { n_bytes };
            let Some(header) = Header::begin(&name, &beginning, n_bytes)? else {
                continue;
            };
            let numbers_start = header.numbers_start;
            let bytes = Bytes::InFile { file: InFile::new(path, file), n_bytes };
            return Ok((Self { bytes, numbers_start }, header));
        }
    }

    /// How many bytes there are from `offset` of the numbers on.
    pub(super) fn left(&self, offset: usize) -> usize {
        let n_bytes = match &self.bytes {
            Bytes::Here(bytes) => bytes.len(),
            Bytes::InFile { n_bytes, .. } | Bytes::ToCome { n_bytes, .. } => *n_bytes,
        };
        n_bytes.saturating_sub(self.numbers_start.saturating_add(offset))
    }

    /// Some of the numbers' bytes, of which there are [as many](Self::left).
    pub(super) fn numbers(&self, offset: usize, n: usize) -> GgufResult<Cow<'_, [u8]>> {
        let from = self.numbers_start + offset;
        match &self.bytes {
            Bytes::Here(bytes) => Ok(Cow::Borrowed(&bytes[from..from + n])),
            Bytes::ToCome { file, .. } => {
                let (file, what) = (file.clone(), "what follows the header".to_string());
                Err(GgufError::CutShort { file, what, needed: n, left: 0 })
            }
            Bytes::InFile { file, .. } => {
                let failed = |source| GgufError::Read { path: file.path.clone(), source };
                Ok(Cow::Owned(file.read(from, n).map_err(failed)?))
            }
        }
    }
}
