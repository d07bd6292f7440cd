//! Files become a model: one that is looked at, or one that writes.

mod beginning;

use std::path::PathBuf;

use attention::LayerParameters;
use decoders::{FastDecoder, Files};
use encoders::{Config, Encoder};
use model_files::{Gguf, Settings, TensorFile};
use serde_json::Value;
use texts::Text;

use crate::{Author, Error, Model};

use beginning::Beginning;

/// The files of a model, by the names that `save_pretrained` gives them.
const FILES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];

/// How the name of a file ends that has all three in one.
const GGUF: &str = ".gguf";

/// A model of a reader's.
#[derive(Debug)]
pub enum AnyModel {
    /// Every token reads every other.
    Encoder(Box<Model>),
    /// Every token reads those before it, and it writes.
    Author(Box<Author>),
}

impl AnyModel {
    /// What a reader is told of it.
    pub fn about(&self) -> Value {
        match self {
            Self::Encoder(model) => model.about(),
            Self::Author(author) => author.about(),
        }
    }
}

/// A model whose weights are being read.
#[derive(Debug)]
pub struct Reading {
    file: String,
    kind: Kind,
    bytes: Vec<u8>,
    n_bytes: usize,
}

/// What the weights are made into.
#[derive(Debug)]
enum Kind {
    Encoder(Box<Config>, Box<Text>),
    /// The settings, and the tokenizer, which is read for a vocabulary of a known size.
    Decoder(Settings, Vec<u8>),
    Gguf(Beginning),
}

impl Reading {
    /// Whether the names of what was chosen hold a model's files; gives the name of the GGUF
    /// file, if it is one.
    ///
    /// # Errors
    /// [`model_files::Error::NoFile`] with the first of a folder's files that is missing;
    /// [`Error::Chosen`] where there is none of them.
    pub fn check<'a>(
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Option<&'a str>, Error> {
        let names: Vec<&str> = names.into_iter().collect();
        let is_gguf = |name: &&&str| name.to_ascii_lowercase().ends_with(GGUF);
        let mut gguf = names.iter().filter(is_gguf);
        if let (Some(name), None) = (gguf.next(), gguf.next()) {
            return Ok(Some(name));
        }
        let has = |file: &&str| names.contains(file);
        if !FILES.iter().any(has) {
            return Err(Error::Chosen { names: names.join(", ") });
        }
        match FILES.into_iter().find(|file| !has(file)) {
            None => Ok(None),
            Some(file) => {
                let folder = PathBuf::from("what was chosen");
                Err(model_files::Error::NoFile { folder, file, hint: "" }.into())
            }
        }
    }

    /// Begins with the two files of a folder that are small, and the size of the third.
    ///
    /// # Errors
    /// As [`Settings::unknown_family`] for a family that is none of those that are known; as
    /// [`Config::read`] and [`Text::read`]; [`Error::Memory`].
    pub fn begin(config: &[u8], tokenizer: &[u8], n_bytes: u64) -> Result<Self, Error> {
        let settings = Settings::read(FILES[0], config)?;
        let name = settings.text("model_type").unwrap_or_default();
        let of_encoders: Vec<_> = encoders::FAMILIES.iter().map(|it| it.name).collect();
        let of_decoders: Vec<_> = decoders::families().map(|it| it.name).collect();
        let kind = if of_encoders.contains(&name) {
            let config = Config::read(FILES[0], config)?;
            let text = Text::read(FILES[1], tokenizer, config.n_vocabulary)?;
            Kind::Encoder(Box::new(config), Box::new(text))
        } else if of_decoders.contains(&name) {
            Kind::Decoder(settings, tokenizer.to_vec())
        } else {
            return Err(settings
                .unknown_family([of_encoders, of_decoders].concat())
                .into());
        };
        Self::of(FILES[2], kind, n_bytes)
    }

    /// Begins with a GGUF file of this name and size.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn begin_gguf(name: &str, n_bytes: u64) -> Result<Self, Error> {
        Self::of(name, Kind::Gguf(Beginning::default()), n_bytes)
    }

    fn of(file: &str, kind: Kind, n_bytes: u64) -> Result<Self, Error> {
        let memory = || Error::Memory { file: file.to_owned(), n_bytes };
        let n = usize::try_from(n_bytes).map_err(|_| memory())?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(n).map_err(|_| memory())?;
        Ok(Self { file: file.to_owned(), kind, bytes, n_bytes: n })
    }

    /// Takes the next part of the weights. A GGUF file is refused as soon as its header says
    /// that it is no model that is read here.
    ///
    /// # Errors
    /// [`Error::Parts`] for more than was announced; as [`finish`](Self::finish) of what a
    /// GGUF file's header says.
    pub fn part(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.expect(|found, expected| found <= expected, bytes.len())?;
        self.bytes.extend_from_slice(bytes);
        match &mut self.kind {
            Kind::Gguf(beginning) => {
                beginning.check(&self.file, &self.bytes, self.n_bytes)
            }
            _ => Ok(()),
        }
    }

    /// Makes the model; of one that writes the file's bytes are given up.
    ///
    /// # Errors
    /// [`Error::Parts`] for less than was announced; [`Error::Packed`]; as
    /// [`TensorFile::from_bytes`], [`Encoder::read`], [`Gguf::from_bytes`] and
    /// [`FastDecoder::read_files`].
    pub fn finish(self) -> Result<AnyModel, Error> {
        self.expect(|found, expected| found == expected, 0)?;
        let Self { file, kind, bytes, n_bytes } = self;
        match kind {
            Kind::Encoder(config, text) => {
                let weights = TensorFile::from_bytes(file, bytes)?;
                let encoder = Encoder::read(&config, &weights, LayerParameters::clone)?;
                Ok(AnyModel::Encoder(Box::new(Model::new(*text, encoder))))
            }
            Kind::Decoder(settings, tokenizer) => {
                let weights = TensorFile::from_bytes(file.as_str(), bytes)?;
                let weights = || Ok(weights.without_wrappers());
                let files = Files::of_folder(file.clone().into(), &settings, weights)?;
                let n_vocabulary = files.config.n_vocabulary;
                let text = Text::read(FILES[1], &tokenizer, n_vocabulary)?;
                drop(tokenizer);
                author(&file, &files, text, n_bytes)
            }
            Kind::Gguf(beginning) => {
                let gguf = Gguf::from_bytes(file.as_str(), bytes)
                    .map_err(decoders::Error::from)?;
                let files = Files::of_gguf(file.clone().into(), gguf)?;
                let text = beginning.text().map_or_else(|| files.text(), Ok)?;
                author(&file, &files, text, n_bytes)
            }
        }
    }

    fn expect(&self, fits: impl Fn(usize, usize) -> bool, n: usize) -> Result<(), Error> {
        let (found, expected) = (self.bytes.len() + n, self.n_bytes);
        match fits(found, expected) {
            true => Ok(()),
            false => Err(Error::Parts { file: self.file.clone(), found, expected }),
        }
    }
}

/// A model that writes, whose weights are packed beside the bytes of their file.
fn author(
    file: &str,
    files: &Files,
    text: Text,
    n_bytes: usize,
) -> Result<AnyModel, Error> {
    // Without memory, packing would stop the module: this much is asked for first, in parts as
    // small as weights are, so that what is free already counts.
    let n_parts = n_bytes.div_ceil(ROOM) + 1;
    let room = (0..n_parts).map(|_| {
        let mut part = Vec::<u8>::new();
        part.try_reserve_exact(ROOM).map(|()| part)
    });
    let room: Result<Vec<_>, _> = room.collect();
    let more = n_parts * ROOM;
    drop(room.map_err(|_| Error::Packed { file: file.to_owned(), n_bytes, more })?);
    let model = FastDecoder::read_files(files)?;
    Ok(AnyModel::Author(Box::new(Author::new(model, text))))
}

/// A part of the memory that packed weights take.
const ROOM: usize = 2 << 20;
