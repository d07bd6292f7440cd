//! Where maps come from: a sentence through a model, or a file.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, str};

use ::texts::{Long, Pieces, Text};
use anyhow::{Context, Result, ensure};
use maps::{TextHeads, file};
use model_files::TensorFile;

use crate::either::{Model, Ready};
use crate::model::cut_hint;
use crate::rows;
use crate::view::View;

/// A model's files and its tokenizer: texts are read, and refused, before weights are.
pub struct Opened {
    /// The files.
    pub files: Model,
    text: Text,
}

impl Opened {
    /// The model in this folder.
    pub fn of(folder: &Path) -> Result<Self> {
        let files = Model::open(folder)?;
        let text = files.text()?;
        Ok(Self { files, text })
    }

    /// A text in tokens, if there is room for all its maps.
    pub fn pieces(&self, text: &str, long: Long) -> Result<Pieces> {
        let pieces = self.tokens(text, long)?;
        let (n_layers, n_heads) = self.files.n_heads();
        rows::check_size([pieces.pieces.len(); 2], n_layers * n_heads)?;
        Ok(pieces)
    }

    /// A text in tokens.
    pub fn tokens(&self, text: &str, long: Long) -> Result<Pieces> {
        cut_hint(self.text.pieces(text, self.files.longest(), long))
    }

    /// The model itself; its files, a hundred megabytes, are no longer needed.
    pub fn reader(self) -> Result<Reader> {
        Ok(Reader { model: Ready::of(&self.files)?, is_causal: self.files.is_causal() })
    }
}

/// A model that is ready to read tokens.
pub struct Reader {
    model: Ready,
    is_causal: bool,
}

impl Reader {
    /// Tokens in all heads.
    pub fn heads(&self, pieces: Pieces) -> Result<TextHeads> {
        let maps = self.model.maps(&pieces.sequence)?;
        ensure!(!maps.is_empty(), "a model without layers has no heads");
        let of = match self.is_causal {
            true => TextHeads::of_decoder,
            false => TextHeads::of_encoder,
        };
        Ok(of(pieces.pieces, pieces.is_special, maps))
    }
}

/// A sentence in all heads of the model in this folder.
pub fn of_sentence(folder: &Path, sentence: &str, long: Long) -> Result<View> {
    let start = Instant::now();
    let opened = Opened::of(folder)?;
    let pieces = opened.pieces(sentence, long)?;
    let reader = opened.reader()?;
    let loading = start.elapsed();
    let start = Instant::now();
    let n_uncut = pieces.n_uncut;
    let text = reader.heads(pieces)?;
    let name = folder.file_name().unwrap_or(folder.as_os_str());
    Ok(View {
        model: name.to_string_lossy().into_owned(),
        sentence: sentence.to_owned(),
        n_uncut,
        text,
        loading,
        computing: start.elapsed(),
    })
}

/// The `nth` text of a file of maps, and what is to be said of it, one per line. `tokens` is a
/// text file with a token per line.
pub fn of_file(path: &Path, tokens: Option<&Path>, nth: usize) -> Result<(View, String)> {
    let start = Instant::now();
    let lines = tokens.map(|path| {
        let bytes =
            fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        String::from_utf8(bytes)
            .with_context(|| format!("{} is not UTF-8", path.display()))
    });
    let lines = lines.transpose()?;
    let mut texts = file::read(&TensorFile::open(path)?, lines.as_deref())?;
    let n_texts = texts.len();
    ensure!(
        nth < n_texts,
        "{}: there is no text {nth}: it has texts 0 to {}",
        path.display(),
        n_texts - 1
    );
    let text = texts.swap_remove(nth);
    let mut notes = text.notes;
    if n_texts > 1 {
        notes.insert(0, format!("text {nth} of {n_texts}: `--text N` shows another"));
    }
    let name = path.display().to_string();
    let notes = notes.iter().map(|note| format!("{name}: {note}\n")).collect();
    let view = View {
        sentence: text.heads.shown_pieces().join(" "),
        n_uncut: text.heads.pieces.len(),
        model: name,
        text: text.heads,
        loading: start.elapsed(),
        computing: Duration::ZERO,
    };
    Ok((view, notes))
}
