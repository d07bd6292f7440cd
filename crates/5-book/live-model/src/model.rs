//! Files become a model, and a sentence becomes maps; without some heads too.

use std::path::PathBuf;

use attention::{LayerParameters, Matrix};
use encoders::{Config, Encoder, Pass, Removal, Stage, Way, finite};
use fused_heads::FusedAttention;
use maps::TextHeads;
use model_files::{MOST_SHOWN, TensorFile};
use serde_json::{Value, json};
use texts::{Long, Text};
use training::{Draws, HeadOfLayer};

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

    /// A head's name that is none.
    #[error("{name:?} is no head: a head is its layer and its number, as in 5.7")]
    HeadName { name: String },

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
        let encoder = Encoder::read(&self.config, &weights, LayerParameters::clone)?;
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
    encoder: Encoder<LayerParameters<f32>, f32>,
}

/// A sentence in all heads.
#[derive(Debug)]
pub struct Looked {
    /// Its tokens and their maps.
    pub text: TextHeads,
    pass: Pass<f32>,
    silent: Vec<Matrix<f32>>,
}

/// So many draws, from this seed on, as `cargo learn look --without` takes them.
const DRAWS: (usize, u64) = (20, 0);

fn stage(parameters: &LayerParameters<f32>) -> Stage<f32> {
    Box::new(FusedAttention::new(parameters))
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
    /// As [`Text::pieces`] and [`Encoder::pass`]; [`Error::LongPage`].
    pub fn look(&self, sentence: &str) -> Result<Looked, Error> {
        let longest = self.encoder.config.longest();
        let pieces = self.text.pieces(sentence, longest, Long::Refuse)?;
        let n_tokens = pieces.pieces.len();
        if n_tokens > MOST_SHOWN {
            return Err(Error::LongPage { n_tokens });
        }
        let pass = self.encoder.pass(&pieces.sequence, stage)?;
        // A page is told numbers as JSON, which has no NaN.
        let attn = finite(pass.layers.clone())?.attn;
        let text = TextHeads::of_encoder(pieces.pieces, pieces.is_special, attn);
        Ok(Looked { text, silent: pass.silent(), pass })
    }

    /// The same sentence without some heads, zeros in their stead: what changes, and its maps.
    ///
    /// # Errors
    /// As [`Encoder::replaced`].
    pub fn switch_off(
        &self,
        looked: &Looked,
        mut heads: Vec<HeadOfLayer>,
    ) -> Result<(Removal, TextHeads), Error> {
        heads.sort_unstable();
        heads.dedup();
        let n_heads = self.encoder.config.dims.n_heads();
        let draws = Draws::new(&heads, n_heads, DRAWS.0, DRAWS.1);
        let (removal, layers) = Removal::begin(&self.way(looked), heads, draws)?;
        let maps = finite(layers)?.attn;
        Ok((removal, TextHeads { maps, ..looked.text.clone() }))
    }

    /// Computes the next draw of a removal on that sentence, and says whether there was one.
    ///
    /// # Errors
    /// As [`Encoder::replaced`].
    pub fn draw(&self, looked: &Looked, removal: &mut Removal) -> Result<bool, Error> {
        Ok(removal.draw(&self.way(looked))?)
    }

    fn way<'a>(&'a self, Looked { pass, silent, .. }: &'a Looked) -> Way<'a, f32> {
        Way { model: &self.encoder, pass, instead: silent, stage }
    }
}
