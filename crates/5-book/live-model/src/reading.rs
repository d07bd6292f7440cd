//! Files become a model: one that is looked at, one that writes, or one that does both.

mod beginning;
mod selected;

use std::collections::BTreeMap;

use attention::LayerParameters;
use model_files::{Gguf, Settings, SmallFiles, without_wrappers};
use models::decoders::FastDecoder;
use models::{Config, Configuration, Files, ModelFiles, Tensors};
use tensors::TensorFile;
use texts::Text;

use crate::{Error, Model};

pub use selected::SelectedFiles;

use selected::WEIGHTS;

use beginning::Beginning;

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
    Folder(Settings, Box<Config>, Box<Text>),
    Gguf(Beginning),
}

impl Reading {
    /// Begins with the files of a folder that are small, and the size of the weights.
    ///
    /// # Errors
    /// As [`Settings::unknown_family`] for a family that is none of those that are known; as
    /// [`SmallFiles::settings`], [`Config::of`] and [`Text::of`]; [`Error::Memory`].
    pub fn begin(files: &BTreeMap<String, Vec<u8>>, n_bytes: u64) -> Result<Self, Error> {
        let files = &SmallFiles::Here(files);
        let settings = files.settings()?;
        let config = Config::of(&settings)?.with_generation(files)?;
        let text = models::text(&config, files)?;
        let kind = Kind::Folder(settings, config.into(), text.into());
        Self::of(WEIGHTS, kind, n_bytes)
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
    /// [`TensorFile::from_bytes`], [`Gguf::from_bytes`] and [`models::Model::read`].
    pub fn finish(self) -> Result<Model, Error> {
        self.expect(|found, expected| found == expected, 0)?;
        let Self { file, kind, bytes, n_bytes } = self;
        let path = file.clone().into();
        let (files, text) = match kind {
            Kind::Folder(settings, config, text) => {
                let weights = TensorFile::from_bytes(file.as_str(), bytes)?;
                let weights = without_wrappers(weights);
                (Files::of_folder(path, &settings, *config, weights)?, Some(*text))
            }
            Kind::Gguf(beginning) => {
                let gguf = Gguf::from_bytes(file.as_str(), bytes);
                let files = Files::of_gguf(path, gguf.map_err(models::Error::from)?)?;
                (files, beginning.text())
            }
        };
        let text = text.map_or_else(|| files.text(), Ok)?;
        let files: ModelFiles = files.into();
        let more = match &files {
            ModelFiles::Encoder(_) => 0,
            ModelFiles::Decoder(_) => n_bytes,
            ModelFiles::Translator(files) => n_bytes_in_f32(&files.tensors)?,
        };
        if more > 0 {
            ask_memory(&file, n_bytes, more)?;
        }
        // Every machine tells the same.
        let decoder = |files: &_| Ok(FastDecoder::read_files(files)?.in_f32());
        let model = models::Model::read(&files, LayerParameters::clone, decoder)?;
        Ok(Model { model, text })
    }

    fn expect(&self, fits: impl Fn(usize, usize) -> bool, n: usize) -> Result<(), Error> {
        let (found, expected) = (self.bytes.len() + n, self.n_bytes);
        match fits(found, expected) {
            true => Ok(()),
            false => Err(Error::Parts { file: self.file.clone(), found, expected }),
        }
    }
}

/// What weights take that stand in f32 beside those of their file.
fn n_bytes_in_f32(tensors: &Tensors) -> Result<usize, Error> {
    let mut n_bytes = 0;
    if let Tensors::Safetensors(weights) = tensors {
        for name in weights.names() {
            let tensor = weights.tensor(&name)?;
            n_bytes += size_of::<f32>() * tensor.shape().iter().product::<usize>();
        }
    }
    Ok(n_bytes)
}

/// Without memory, making a model would stop the module: so much is asked for first, in parts
/// as small as weights are, so that what is free already counts.
fn ask_memory(file: &str, n_bytes: usize, more: usize) -> Result<(), Error> {
    let n_parts = more.div_ceil(ROOM) + 1;
    let room = (0..n_parts).map(|_| {
        let mut part = Vec::<u8>::new();
        part.try_reserve_exact(ROOM).map(|()| part)
    });
    let room: Result<Vec<_>, _> = room.collect();
    let more = n_parts * ROOM;
    room.map(drop).map_err(|_| Error::Packed { file: file.to_owned(), n_bytes, more })
}

/// A part of the memory that weights take.
const ROOM: usize = 2 << 20;
