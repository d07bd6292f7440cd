//! What an encoder-decoder's files say of it.

use block::Activation;
use variants::Sizes;

use crate::Error;
use crate::translators::family::Family;
use crate::writing::Generation;

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
    pub writing: Generation,
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

    /// Its sizes, in a line.
    pub fn about(&self) -> String {
        let half = |half: Half| {
            format!("{} layers of {} heads", half.n_layers, half.sizes.dims.n_heads())
        };
        let positions = match self.n_positions {
            Some(n) => format!("{n} positions"),
            None => "texts of any length".to_owned(),
        };
        format!(
            "{}, encoder: {}, decoder: {}, d_model {}, {positions}",
            self.family.name,
            half(self.encoder),
            half(self.decoder),
            self.d_model()
        )
    }

    /// The error of a model that was saved without an unembedding.
    pub(crate) fn no_head(&self) -> Error {
        Error::NoHead { tensor: format!("{HEAD}.weight") }
    }
}

/// The unembedding's name, the same in all families.
pub(crate) const HEAD: &str = "lm_head";
