//! Files become a model, and a sentence becomes maps.

use std::path::PathBuf;

use encoders::{Config, Encoder, finite};
use fused_heads::FusedAttention;
use maps::TextHeads;
use model_files::{MOST_SHOWN, TensorFile};
use serde_json::{Value, json};
use texts::{Long, Text};

/// The files of a model, by the names that `save_pretrained` gives them.
const FILES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];

/// Why there is nothing to look at.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the fields are what the message says they are
pub enum Error {
    /// A file that the model cannot be made of.
    #[error(transparent)]
    Files(#[from] model_files::Error),

    /// A tokenizer or a text that the model cannot read.
    #[error(transparent)]
    Text(#[from] texts::Error),

    /// A layer that cannot be diagnosed.
    #[error(transparent)]
    Layer(#[from] diagnosis::Error),

    /// A model or a text that does not fit.
    #[error(transparent)]
    Encoder(#[from] encoders::Error),

    /// A text that is longer than a page draws.
    #[error(
        "the text has {n_tokens} tokens, and a page draws the maps of up to {MOST_SHOWN}"
    )]
    LongPage { n_tokens: usize },

    /// A model that is larger than what the page may have.
    #[error("{}: the page cannot have memory for its {n_bytes} bytes", FILES[2])]
    Memory { n_bytes: usize },

    /// Parts that do not add up to the file.
    #[error("{}: {found} bytes were read, and the file has {expected}", FILES[2])]
    Parts { found: usize, expected: usize },
}

/// A model whose weights are being read.
#[derive(Debug)]
pub struct Reading {
    config: Config,
    text: Text,
    weights: Vec<u8>,
    n_bytes: usize,
}

impl Reading {
    /// Whether the names of what was chosen hold a model's files.
    ///
    /// # Errors
    /// [`model_files::Error::NoFile`] with the first that is missing.
    pub fn check<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
        let names: Vec<&str> = names.into_iter().collect();
        let has = |file: &&str| names.contains(file);
        match FILES.into_iter().find(|file| !has(file)) {
            None => Ok(()),
            Some(file) => {
                let folder = PathBuf::from("what was chosen");
                Err(model_files::Error::NoFile { folder, file, hint: "" }.into())
            }
        }
    }

    /// Begins with the two files that are small, and the size of the third.
    ///
    /// # Errors
    /// As [`Config::read`] and [`Text::read`]; [`Error::Memory`].
    pub fn begin(config: &[u8], tokenizer: &[u8], n_bytes: usize) -> Result<Self, Error> {
        let config = Config::read(FILES[0], config)?;
        let text = Text::read(FILES[1], tokenizer, config.n_vocabulary)?;
        let mut weights = Vec::new();
        let reserved = weights.try_reserve_exact(n_bytes);
        reserved.map_err(|_| Error::Memory { n_bytes })?;
        Ok(Self { config, text, weights, n_bytes })
    }

    /// Takes the next part of the weights.
    ///
    /// # Errors
    /// [`Error::Parts`] for more than was announced.
    pub fn part(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.expect(|found, expected| found <= expected, bytes.len())?;
        self.weights.extend_from_slice(bytes);
        Ok(())
    }

    /// Makes the model.
    ///
    /// # Errors
    /// [`Error::Parts`] for less than was announced; as [`TensorFile::from_bytes`] and
    /// [`Encoder::read`].
    pub fn finish(self) -> Result<Model, Error> {
        self.expect(|found, expected| found == expected, 0)?;
        let weights = TensorFile::from_bytes(FILES[2], self.weights)?;
        let encoder = Encoder::read(&self.config, &weights, FusedAttention::new)?;
        Ok(Model { text: self.text, encoder })
    }

    fn expect(&self, fits: impl Fn(usize, usize) -> bool, n: usize) -> Result<(), Error> {
        let (found, expected) = (self.weights.len() + n, self.n_bytes);
        if fits(found, expected) { Ok(()) } else { Err(Error::Parts { found, expected }) }
    }
}

/// A model that was read.
#[derive(Debug)]
pub struct Model {
    text: Text,
    encoder: Encoder<FusedAttention<f32>, f32>,
}

impl Model {
    /// What a reader is told of it.
    pub fn about(&self) -> Value {
        let config = &self.encoder.config;
        json!({
            "family": config.family.name,
            "n_layers": config.n_layers,
            "n_heads": config.dims.n_heads(),
            "longest": config.longest().min(MOST_SHOWN),
        })
    }

    /// A sentence in all heads.
    ///
    /// # Errors
    /// As [`Text::pieces`] and [`Encoder::forward`]; [`Error::LongPage`].
    pub fn look(&self, sentence: &str) -> Result<TextHeads, Error> {
        let longest = self.encoder.config.longest();
        let pieces = self.text.pieces(sentence, longest, Long::Refuse)?;
        let n_tokens = pieces.pieces.len();
        if n_tokens > MOST_SHOWN {
            return Err(Error::LongPage { n_tokens });
        }
        // A page is told numbers as JSON, which has no NaN.
        let layers = finite(self.encoder.forward(&pieces.sequence)?)?;
        Ok(TextHeads::of_encoder(pieces.pieces, pieces.is_special, layers.attn))
    }
}
