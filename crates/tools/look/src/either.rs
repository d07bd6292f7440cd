//! A reader's model, of any kind: an encoder, a decoder, or both in one.

use std::path::{Path, PathBuf};

use ::texts::Text;
use anyhow::{Context, Result, bail, ensure};
use attention::{Matrix, Real};
use fused_heads::FusedAttention;
use kernels::PackedStage;
use model_files::{Sequence, SmallFiles, Unused, settings_in, weight_files};
use models::decoders::{AsRead, Decoder, Files};
use models::encoders::{Encoder, Folder, finite, to_tensors};
use tensors::{NewTensor, Stored, TensorFile};

/// A model's files.
pub enum Model {
    /// Every token reads every other.
    Encoder(Folder),
    /// Every token reads those before it.
    Decoder(Files),
    /// One text is read, and another is written.
    Translator(models::translators::Files),
}

impl Model {
    /// A folder as `save_pretrained` writes it, or a GGUF file.
    pub fn open(path: &Path) -> Result<Self> {
        if path.is_file() {
            return Ok(Self::Decoder(Files::open(path)?));
        }
        let settings = settings_in(path)?;
        let name = settings.text("model_type").unwrap_or_default();
        let of_encoders: Vec<_> =
            models::encoders::FAMILIES.iter().map(|it| it.name).collect();
        let of_decoders: Vec<_> =
            models::decoders::families().map(|it| it.name).collect();
        if of_encoders.contains(&name) {
            return Ok(Self::Encoder(Folder::open(path)?));
        }
        if of_decoders.contains(&name) {
            return Ok(Self::Decoder(Files::open(path)?));
        }
        let of_both: Vec<_> = models::translators::families().map(|it| it.name).collect();
        if of_both.contains(&name) {
            return Ok(Self::Translator(models::translators::Files::open(path)?));
        }
        let known = [of_encoders, of_decoders, of_both].concat();
        Err(settings.unknown_family(known).into())
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

    /// How many tokens a text may have.
    pub fn longest(&self) -> usize {
        match self {
            Self::Encoder(folder) => folder.config.longest(),
            Self::Decoder(files) => files.config.n_positions,
            Self::Translator(files) => files.config.longest(),
        }
    }

    /// How many layers it has, and how many heads in each.
    pub fn n_heads(&self) -> (usize, usize) {
        match self {
            Self::Encoder(folder) => {
                (folder.config.n_layers, folder.config.dims.n_heads())
            }
            Self::Decoder(files) => {
                (files.config.n_layers, files.config.dims().n_heads())
            }
            Self::Translator(files) => {
                let encoder = files.config.encoder;
                (encoder.n_layers, encoder.sizes.dims.n_heads())
            }
        }
    }

    /// Its tokenizer.
    pub fn text(&self) -> Result<Text> {
        Ok(match self {
            Self::Encoder(folder) => {
                Text::open(&folder.path, folder.config.n_vocabulary)?
            }
            Self::Decoder(files) => files.text()?,
            Self::Translator(files) => crate::translate::tokenizer(files)?,
        })
    }

    /// Whether a token sees only those before it.
    pub fn is_causal(&self) -> bool {
        matches!(self, Self::Decoder(_))
    }

    /// The sequences of a file.
    pub fn sequences(&self, file: &TensorFile) -> Result<Vec<Sequence>> {
        Ok(match self {
            Self::Encoder(folder) => folder.config.sequences(file)?,
            Self::Decoder(files) => files.config.sequences(file)?,
            Self::Translator(_) => bail!("two texts are read from such a file"),
        })
    }

    /// What its files have that is known to change nothing.
    pub fn unused(&self) -> &[Unused] {
        match self {
            Self::Encoder(folder) => &folder.leftovers,
            Self::Decoder(files) => &files.leftovers,
            Self::Translator(files) => &files.leftovers,
        }
    }

    /// Its sizes, in a line.
    pub fn sizes(&self) -> String {
        let (name, n_layers, dims) = match self {
            Self::Encoder(Folder { config, .. }) => {
                (config.family.name, config.n_layers, config.dims)
            }
            Self::Decoder(Files { config, .. }) => {
                (config.family.name, config.n_layers, config.dims())
            }
            Self::Translator(files) => return crate::translate::sizes(&files.config),
        };
        let heads = match self {
            Self::Decoder(Files { config, .. }) => {
                let groups = config.sizes.groups;
                match groups.n_kv_heads() == groups.n_heads() {
                    true => format!("{} heads", groups.n_heads()),
                    false => format!(
                        "{} heads on {} of keys and values",
                        groups.n_heads(),
                        groups.n_kv_heads()
                    ),
                }
            }
            _ => format!("{} heads", dims.n_heads()),
        };
        let (d_model, longest) = (dims.d_model(), self.longest());
        format!(
            "{name}, {n_layers} layers, d_model {d_model}, {heads}, {longest} positions"
        )
    }

    /// Every hidden state and map of each sequence, and a decoder's logits.
    pub fn tensors<T: Real + Stored>(
        &self,
        sequences: &[Sequence],
    ) -> Result<Vec<NewTensor>> {
        match self {
            Self::Translator(_) => bail!("two texts are read by such a model"),
            Self::Encoder(folder) => {
                let model = Encoder::<_, T>::read(
                    &folder.config,
                    &folder.weights,
                    |parameters| FusedAttention::new(parameters),
                )?;
                Ok(to_tensors(&each(sequences, |one| Ok(finite(model.forward(one)?)?))?)?)
            }
            Self::Decoder(files) => {
                let model: AsRead<T> = Decoder::read(files)?;
                let layers = each(sequences, |one| Ok(finite(model.forward_at(one)?)?))?;
                let with_logits = layers.iter().filter(|_| model.unembedding.is_some());
                let logits = with_logits.map(|layers| model.logits(layers.out()));
                let logits = logits.collect::<models::Result<Vec<_>>>()?;
                let is_finite = |m: &Matrix<T>| m.iter().all(|x| x.is_finite());
                ensure!(
                    logits.iter().all(is_finite),
                    "NaN or infinity begins in the logits: the unembedding is not finite, or \
                     too large for this precision"
                );
                let mut tensors = to_tensors(&layers)?;
                if let Some(first) = logits.first() {
                    let shape = [logits.len(), first.nrows(), first.ncols()];
                    tensors.push(NewTensor::new("logits", &shape, &logits)?);
                }
                Ok(tensors)
            }
        }
    }
}

/// A model that writes, and its tokenizer, from files that are open.
pub fn read(files: &Files) -> Result<(AsRead<f32>, Text)> {
    Ok((Decoder::read(files)?, files.text()?))
}

/// The files of a model that writes.
pub fn decoder(path: &Path) -> Result<Files> {
    match Model::open(path)? {
        Model::Decoder(files) => Ok(files),
        Model::Encoder(folder) => bail!(
            "{} is of the family {}, in which every token reads every other: it does not \
             write",
            path.display(),
            folder.config.family.name
        ),
        Model::Translator(files) => bail!(
            "{} is of the family {}, which writes from a source: `cargo learn look --model` \
             shows it",
            path.display(),
            files.config.family.name
        ),
    }
}

fn each<L>(
    sequences: &[Sequence],
    forward: impl Fn(&Sequence) -> Result<L>,
) -> Result<Vec<L>> {
    let one = |(s, sequence)| forward(sequence).with_context(|| format!("sequence {s}"));
    sequences.iter().enumerate().map(one).collect()
}

/// A model that is ready to be asked for its maps.
pub enum Ready {
    /// An encoder on the fastest stage.
    Encoder(Box<Encoder<PackedStage, f32>>),
    /// A decoder as it is read.
    Decoder(Box<AsRead<f32>>),
}

impl Ready {
    /// From its files.
    pub fn of(model: &Model) -> Result<Self> {
        Ok(match model {
            Model::Encoder(folder) => {
                let model =
                    Encoder::read(&folder.config, &folder.weights, PackedStage::new)?;
                Self::Encoder(Box::new(model))
            }
            Model::Decoder(files) => Self::Decoder(Box::new(Decoder::read(files)?)),
            Model::Translator(files) => bail!(
                "{} is of the family {}, which has three kinds of maps: one sentence is looked \
                 at, and nothing beside it",
                files.path.display(),
                files.config.family.name
            ),
        })
    }

    /// `maps[l][h]`, `[n, n]`.
    pub fn maps(&self, sequence: &Sequence) -> Result<Vec<Vec<Matrix<f32>>>> {
        Ok(match self {
            Self::Encoder(model) => finite(model.forward(sequence)?)?.attn,
            Self::Decoder(model) => finite(model.forward(sequence)?)?.attn,
        })
    }
}
