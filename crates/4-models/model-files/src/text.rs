//! Text becomes ids.

use std::fs;
use std::path::Path;

use tokenizers::{Encoding, Tokenizer, TruncationParams};

use crate::folder::file;
use crate::{Error, Result, Sequence};

/// A tokenizer, as `tokenizer.json` describes it.
#[derive(Debug, Clone)]
pub struct Text {
    tokenizer: Tokenizer,
}

/// A text in pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pieces {
    /// The ids, as the model takes them.
    pub sequence: Sequence,
    /// What each id stands for; in BERT's way, one that goes on with a word begins with
    /// `##`.
    pub pieces: Vec<String>,
    /// Whether a piece was put there by the tokenizer, such as `[CLS]`.
    pub is_special: Vec<bool>,
    /// How many tokens the text had before it was cut.
    pub n_uncut: usize,
}

/// What to do with a text that is longer than the model's positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Long {
    /// Refuse it.
    #[default]
    Refuse,
    /// Take its start, and the last special token.
    Cut,
}

impl Text {
    /// The tokenizer in a model's folder, for a model with embeddings for `n_vocabulary`
    /// tokens.
    ///
    /// # Errors
    /// [`Error::NoFile`], [`Error::Read`]; as [`read`](Self::read).
    pub fn open(folder: &Path, n_vocabulary: usize) -> Result<Self> {
        let path = file(folder, "tokenizer.json", "")?;
        let bytes = fs::read(&path)
            .map_err(|source| Error::Read { path: path.clone(), source })?;
        Self::read(&path.display().to_string(), &bytes, n_vocabulary)
    }

    /// The tokenizer from what its file holds; `name` is what errors call it.
    ///
    /// What it says of padding and of the length of texts is left aside: here a text is
    /// alone, and how long it may be is the model's to say.
    ///
    /// # Errors
    /// [`Error::Tokenizer`]; [`Error::Vocabulary`] if it gives ids that the model has not.
    pub fn read(name: &str, json: &[u8], n_vocabulary: usize) -> Result<Self> {
        let file = || name.to_string();
        let tokenizer = Tokenizer::from_bytes(json);
        let mut tokenizer = tokenizer
            .map_err(|why| Error::Tokenizer { file: file(), why: why.to_string() })?;
        tokenizer.with_padding(None);
        without_limit(&mut tokenizer)
            .map_err(|why| Error::Tokenizer { file: file(), why })?;
        let largest = tokenizer.get_vocab(true).into_values().max().unwrap_or(0) as usize;
        match largest < n_vocabulary {
            true => Ok(Self { tokenizer }),
            false => Err(Error::Vocabulary { file: file(), largest, n_vocabulary }),
        }
    }

    /// The pieces of a text, at most `n_positions`.
    ///
    /// # Errors
    /// [`Error::EmptyText`]; [`Error::LongText`] with both numbers.
    pub fn pieces(&self, text: &str, n_positions: usize, long: Long) -> Result<Pieces> {
        let encode = |tokenizer: &Tokenizer| {
            let encoded = tokenizer.encode(text, true);
            let file = || "the tokenizer".to_string();
            encoded.map_err(|why| Error::Tokenizer { file: file(), why: why.to_string() })
        };
        let mut encoding = encode(&self.tokenizer)?;
        if encoding.get_special_tokens_mask().iter().all(|&is_special| is_special == 1) {
            return Err(Error::EmptyText);
        }
        let n_uncut = encoding.len();
        if n_uncut > n_positions {
            // Cut to less than its special tokens, the library would panic.
            let special = encoding.get_special_tokens_mask();
            let n_special = special.iter().filter(|&&is_special| is_special == 1).count();
            if long == Long::Refuse || n_positions <= n_special {
                return Err(Error::LongText { n_tokens: n_uncut, n_positions });
            }
            let mut tokenizer = self.tokenizer.clone();
            let cut = TruncationParams { max_length: n_positions, ..Default::default() };
            let cut = tokenizer.with_truncation(Some(cut)).map(|_| ());
            cut.map_err(|_| Error::LongText { n_tokens: n_uncut, n_positions })?;
            encoding = encode(&tokenizer)?;
        }
        Ok(pieces(&encoding, n_uncut))
    }
}

impl Text {
    /// The text of some ids, special ones among them.
    ///
    /// Where a character is of several tokens, some of them alone give `\u{fffd}`.
    ///
    /// # Errors
    /// [`Error::Tokenizer`] if it cannot decode; an id that it does not know gives nothing.
    pub fn decode(&self, ids: &[usize]) -> Result<String> {
        let ids: Vec<u32> = ids.iter().filter_map(|&id| id.try_into().ok()).collect();
        self.tokenizer.decode(&ids, false).map_err(|why| {
            let file = "the tokenizer".to_string();
            Error::Tokenizer { file, why: why.to_string() }
        })
    }
}

fn without_limit(tokenizer: &mut Tokenizer) -> Result<(), String> {
    tokenizer.with_truncation(None).map(|_| ()).map_err(|why| why.to_string())
}

fn pieces(encoding: &Encoding, n_uncut: usize) -> Pieces {
    let whole = |ids: &[u32]| ids.iter().map(|&id| id as usize).collect();
    let ids: Vec<usize> = whole(encoding.get_ids());
    let is_special = encoding.get_special_tokens_mask().iter().map(|&is| is == 1);
    Pieces {
        sequence: Sequence {
            types: whole(encoding.get_type_ids()),
            is_real: vec![true; ids.len()],
            positions: None,
            ids,
        },
        pieces: encoding.get_tokens().to_vec(),
        is_special: is_special.collect(),
        n_uncut,
    }
}

#[cfg(test)]
mod tests;
