//! A model of any of the three kinds: what its files say, and what it gives.

use std::path::{Path, PathBuf};

use attention::{LayerParameters, Matrix, Real};
use model_files::{Gguf, Sequence, Settings, SmallFiles, Unused, weight_files};
use tensors::{NewTensor, Stored, TensorFile};

use crate::batch::{of_layers, of_matrices};
use crate::encoders::{Encoder, Stage};
use crate::files::{Configuration, Files, family_of};
use crate::finite::{finite, finite_logits};
use crate::{Error, Result, decoders, encoders, translators};

/// One of the three kinds of model: of each what is known of it.
#[derive(Debug, Clone)]
pub enum Kind<E, D, T> {
    /// Every token reads every other.
    Encoder(E),
    /// Every token reads those before it, and it writes.
    Decoder(D),
    /// One text is read, and another is written.
    Translator(T),
}

/// What files say of a model of any kind.
pub type Config = Kind<encoders::Config, decoders::Config, translators::Config>;

/// The files of a model of any kind.
pub type ModelFiles = Kind<encoders::Files, decoders::Files, translators::Files>;

/// The same of each kind.
macro_rules! of_each {
    ($kind:expr, $it:ident => $of:expr) => {
        match $kind {
            Kind::Encoder($it) => $of,
            Kind::Decoder($it) => $of,
            Kind::Translator($it) => $of,
        }
    };
    (Kind of $kind:expr, $it:ident => $of:expr) => {
        match $kind {
            Kind::Encoder($it) => Kind::Encoder($of),
            Kind::Decoder($it) => Kind::Decoder($of),
            Kind::Translator($it) => Kind::Translator($of),
        }
    };
}

impl Configuration for Config {
    fn of(settings: &Settings) -> Result<Self> {
        type Read = fn(&Settings) -> Result<Config>;
        let encoder: Read = |it| Ok(Self::Encoder(Configuration::of(it)?));
        let decoder: Read = |it| Ok(Self::Decoder(Configuration::of(it)?));
        let translator: Read = |it| Ok(Self::Translator(Configuration::of(it)?));
        let mut families = Vec::new();
        families.extend(encoders::families().map(|it| (it.name, encoder)));
        families.extend(decoders::families().map(|it| (it.name, decoder)));
        families.extend(translators::families().map(|it| (it.name, translator)));
        let (_, read) = family_of(settings, &families, |(name, _)| name)?;
        read(settings)
    }

    fn of_gguf(file: &Gguf) -> Result<(Self, Vec<Unused>)> {
        let (config, unused) = Configuration::of_gguf(file)?;
        Ok((Self::Decoder(config), unused))
    }

    fn with_generation(self, files: &SmallFiles) -> Result<Self> {
        Ok(of_each!(Kind of self, config => config.with_generation(files)?))
    }

    fn expect_one_tokenizer(&self, files: &SmallFiles) -> Result<()> {
        of_each!(self, config => config.expect_one_tokenizer(files))
    }

    fn is_causal(&self) -> bool {
        of_each!(self, config => config.is_causal())
    }

    fn family(&self) -> &'static str {
        of_each!(self, config => config.family())
    }

    fn n_vocabulary(&self) -> usize {
        of_each!(self, config => Configuration::n_vocabulary(config))
    }

    fn unused_settings(&self, settings: &Settings) -> Result<Vec<Unused>> {
        of_each!(self, config => config.unused_settings(settings))
    }

    fn unused_tensors(&self, file: &TensorFile) -> Vec<Unused> {
        of_each!(self, config => config.unused_tensors(file))
    }
}

impl From<Files<Config>> for ModelFiles {
    fn from(Files { path, config, tensors, unused }: Files<Config>) -> Self {
        of_each!(Kind of config, config => Files { path, config, tensors, unused })
    }
}

impl ModelFiles {
    /// A folder as `save_pretrained` writes it, or a GGUF file.
    ///
    /// # Errors
    /// As [`Files::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Files::<Config>::open(path)?.into())
    }

    /// The files that it is read from, whether they are there or not.
    pub fn files(path: &Path) -> Vec<PathBuf> {
        if path.is_file() {
            return vec![path.to_path_buf()];
        }
        let mut files = weight_files(path);
        files.extend(SmallFiles::NAMES.map(|name| path.join(name)));
        files
    }

    /// Where its files are.
    pub fn path(&self) -> &Path {
        of_each!(self, files => &files.path)
    }

    /// The name of its family.
    pub fn family(&self) -> &'static str {
        of_each!(self, files => files.config.family())
    }

    /// Whether a token sees only those before it.
    pub fn is_causal(&self) -> bool {
        of_each!(self, files => files.config.is_causal())
    }

    /// What its files have that is known to change nothing.
    pub fn unused(&self) -> &[Unused] {
        of_each!(self, files => &files.unused)
    }

    /// Its tokenizer.
    ///
    /// # Errors
    /// As [`Files::text`].
    #[cfg(feature = "text")]
    pub fn text(&self) -> Result<texts::Text> {
        of_each!(self, files => files.text())
    }

    /// How many tokens a text may have.
    pub fn longest(&self) -> usize {
        match self {
            Self::Encoder(files) => files.config.longest(),
            Self::Decoder(files) => files.config.n_positions,
            Self::Translator(files) => files.config.longest(),
        }
    }

    /// How many layers it has, and how many heads in each; of a model with two sides, of the
    /// one that reads.
    pub fn n_heads(&self) -> [usize; 2] {
        match self {
            Self::Encoder(files) => [files.config.n_layers, files.config.dims.n_heads()],
            Self::Decoder(files) => {
                [files.config.n_layers, files.config.dims().n_heads()]
            }
            Self::Translator(files) => {
                let encoder = files.config.encoder;
                [encoder.n_layers, encoder.sizes.dims.n_heads()]
            }
        }
    }

    /// The sequences of a file, in a model that reads one text.
    ///
    /// # Errors
    /// As the `sequences` of the kind's config; [`model_files::Error::Unsupported`] for a model that
    /// reads two.
    pub fn sequences(&self, file: &TensorFile) -> Result<Vec<Sequence>> {
        match self {
            Self::Encoder(files) => files.config.sequences(file),
            Self::Decoder(files) => files.config.sequences(file),
            Self::Translator(_) => Err(self.two_texts()),
        }
    }

    /// Its sizes, in a line.
    pub fn about(&self) -> String {
        let (n_layers, dims, heads) = match self {
            Self::Encoder(Files { config, .. }) => {
                (config.n_layers, config.dims, String::new())
            }
            Self::Decoder(Files { config, .. }) => {
                let groups = config.sizes.groups;
                let heads = match groups.n_kv_heads() == groups.n_heads() {
                    true => String::new(),
                    false => format!(" on {} of keys and values", groups.n_kv_heads()),
                };
                (config.n_layers, config.dims(), heads)
            }
            Self::Translator(files) => return files.config.about(),
        };
        format!(
            "{}, {n_layers} layers, d_model {}, {} heads{heads}, {} positions",
            self.family(),
            dims.d_model(),
            dims.n_heads(),
            self.longest()
        )
    }

    /// Every hidden state and map of each sequence, and a decoder's logits, in a model that
    /// reads one text; `stage` computes an encoder's attention.
    ///
    /// # Errors
    /// [`Error::Sequence`] for what a sequence has wrong; [`Error::NotFinite`] and
    /// [`Error::LogitsNotFinite`] for a model that gives no numbers.
    pub fn tensors<T: Real + Stored>(
        &self,
        sequences: &[Sequence],
        stage: fn(&LayerParameters<T>) -> Stage<T>,
    ) -> Result<Vec<NewTensor>> {
        match self {
            Self::Translator(_) => Err(self.two_texts()),
            Self::Encoder(files) => {
                let model = Encoder::read(files, stage)?;
                of_layers("", &each(sequences, |one| finite(model.forward(one)?))?)
            }
            Self::Decoder(files) => {
                let model = decoders::AsRead::<T>::read(files)?;
                let layers = each(sequences, |one| finite(model.forward_at(one)?))?;
                let with_logits = layers.iter().filter(|_| model.unembedding.is_some());
                let logits = with_logits.map(|it| finite_logits(model.logits(it.out())?));
                let logits = logits.collect::<Result<Vec<Matrix<T>>>>()?;
                let mut tensors = of_layers("", &layers)?;
                let (name, n) = ("logits".to_owned(), logits.len());
                tensors.extend(of_matrices(name, n, None, logits.iter())?);
                Ok(tensors)
            }
        }
    }

    pub(crate) fn two_texts(&self) -> Error {
        let (file, found) = (self.path().display().to_string(), self.family().to_owned());
        let why = "such a model reads one text and writes another";
        model_files::Error::Unsupported { file, found, why }.into()
    }
}

fn each<L>(
    sequences: &[Sequence],
    forward: impl Fn(&Sequence) -> Result<L>,
) -> Result<Vec<L>> {
    let one = |(sequence, of): (usize, _)| {
        forward(of).map_err(|source| Error::Sequence { sequence, source: source.into() })
    };
    sequences.iter().enumerate().map(one).collect()
}
