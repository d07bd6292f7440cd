//! What an encoder-decoder's files say of it.

use block::Activation;
use model_files::SmallFiles;
use variants::Sizes;

use crate::translators::family::Family;
use crate::translators::writing::Writing;
use crate::{Error, Result};

/// What is to be known of a model before its weights are read.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Whose names its tensors have.
    pub family: &'static Family,
    /// The side that reads the source.
    pub encoder: Half,
    /// The side that writes.
    pub decoder: Half,
    /// How many tokens the encoder knows.
    pub n_vocabulary: usize,
    /// How many the decoder knows, and has logits for.
    pub n_target_vocabulary: usize,
    /// Where a token stands.
    pub places: Places,
    /// How many tokens a text may have; without, any number.
    pub n_positions: Option<usize>,
    /// What bends the entries of the feed-forward layers.
    pub activation: Activation,
    /// Whether these are gated.
    pub is_gated: bool,
    /// eps of every norm.
    pub eps: f64,
    /// What scores are multiplied by, instead of 1/√d_k.
    pub scale: Option<f64>,
    /// What tokens are multiplied by before the first block.
    pub embedding_scale: f64,
    /// What hidden states are multiplied by before the unembedding.
    pub logits_scale: f64,
    /// Whether both sides have the same tokens, where the file has none for a side.
    pub is_shared: bool,
    /// Whether the unembedding is the decoder's embedding, where the file has none: the file
    /// decides.
    pub is_tied: bool,
    /// How a text is written.
    pub writing: Writing,
}

/// One side's sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Half {
    /// d_model and the heads.
    pub sizes: Sizes,
    /// The number of blocks.
    pub n_layers: usize,
    /// The width within the feed-forward layers.
    pub d_ff: usize,
}

/// How a model knows where a token stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Places {
    /// By a table that is learned.
    Learned {
        /// The rows before that of the first token.
        offset: usize,
    },
    /// By the paper's table, all sines before all cosines.
    Sinusoidal,
    /// By a bias of the scores per head and distance.
    Relative {
        /// How many distances are told apart.
        n_buckets: usize,
        /// From where on all are alike.
        max_distance: usize,
    },
}

impl Config {
    /// d_model.
    pub fn d_model(&self) -> usize {
        self.encoder.sizes.dims.d_model()
    }

    /// How many tokens a text may have, on either side.
    pub fn longest(&self) -> usize {
        self.n_positions.unwrap_or(usize::MAX)
    }

    /// With what a folder's `generation_config.json` says of writing, where it is there.
    ///
    /// # Errors
    /// [`Error::Files`] for one that makes no sense.
    pub fn with_generation(self, files: &SmallFiles) -> Result<Self> {
        let writing = self.writing.clone().with_generation(files)?;
        Ok(Self { writing, ..self })
    }

    /// Expects one `tokenizer.json` to be enough for both texts.
    ///
    /// # Errors
    /// [`Error::Files`] for a folder that has SentencePiece's files alone, or for
    /// vocabularies of their own.
    pub fn expect_one_tokenizer(&self, files: &SmallFiles) -> Result<()> {
        let refuse = |file: &str, found: String, why| {
            let file = match files {
                SmallFiles::Folder(folder) => folder.display().to_string(),
                SmallFiles::Here(_) => file.to_string(),
            };
            Err(model_files::Error::Unsupported { file, found, why }.into())
        };
        if files.contains("source.spm") && !files.contains("tokenizer.json") {
            let found = "it has source.spm and no tokenizer.json".to_string();
            let why = "SentencePiece's own files are not read here, and save_pretrained of \
                       Marian's tokenizer writes no other. With `cargo learn model` ids of \
                       any tokenizer are read: input_ids and decoder_input_ids";
            return refuse("what was chosen", found, why);
        }
        let (source, target) = (self.n_vocabulary, self.n_target_vocabulary);
        if !self.is_shared && source != target {
            let found = format!(
                "source and target have vocabularies of their own, {source} and {target} \
                 tokens, and tokenizer.json has one"
            );
            return refuse("config.json", found, "`cargo learn model` reads ids");
        }
        Ok(())
    }

    /// The error of a model that was saved without an unembedding.
    pub(crate) fn no_head(&self) -> Error {
        Error::NoHead { tensor: format!("{HEAD}.weight") }
    }
}

/// The unembedding's name, the same in all families.
pub(crate) const HEAD: &str = "lm_head";
