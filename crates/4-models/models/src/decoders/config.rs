//! What a decoder's files say of it.

use attention::Dims;
use block::Activation;
use model_files::Sequence;
use tensors::TensorFile;
use variants::{Rotary, Sizes, SoftCap, Window};

use crate::decoders::family::Family;
use crate::{Error, Result};

/// The tokens that end a text: one id, or a list.
pub(crate) const ENDS: &str = "eos_token_id";

/// What is to be known of a decoder before its weights are read.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Whose names its tensors have.
    pub family: &'static Family,
    /// d_model, the heads, and how many share keys and values.
    pub sizes: Sizes,
    /// The number of blocks.
    pub n_layers: usize,
    /// The width within the feed-forward layers.
    pub d_ff: usize,
    /// How many tokens it knows.
    pub n_vocabulary: usize,
    /// How many tokens a text may have.
    pub n_positions: usize,
    /// eps of every norm.
    pub eps: f64,
    /// What bends the entries of the feed-forward layers.
    pub activation: Activation,
    /// Rotary positions; without, the model has a table of them.
    pub rotary: Option<Rotary>,
    /// Those of layers with a window, where they differ.
    pub rotary_in_windows: Option<Rotary>,
    /// What scores are multiplied by, instead of 1/√d_k.
    pub scale: Option<f64>,
    /// Scores that stay within a bound.
    pub soft_cap: Option<SoftCap>,
    /// The window of each layer; empty where none has one.
    pub windows: Vec<Option<Window>>,
    /// What tokens are multiplied by before the first block.
    pub embedding_scale: f64,
    /// Logits that stay within a bound.
    pub last_soft_cap: Option<SoftCap>,
    /// Which projections have biases.
    pub biases: Biases,
    /// Whether attention and the feed-forward layer read the same tokens, side by side.
    pub parallel: bool,
    /// Whether the unembedding is the embedding, where the file has no unembedding: the
    /// file decides.
    pub tied: bool,
    /// The ids of tokens that end a text.
    pub ends: Vec<usize>,
}

/// Which projections have biases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Biases {
    /// W^Q, W^K and W^V.
    pub projections: bool,
    /// W^O.
    pub out: bool,
    /// Those of the feed-forward layer.
    pub feed_forward: bool,
}

impl Config {
    /// The sizes of a layer, as if no heads shared keys and values.
    pub fn dims(&self) -> Dims {
        self.sizes.dims
    }

    /// The error of a model that was saved without an unembedding.
    pub(crate) fn no_head(&self) -> Error {
        Error::NoHead { tensor: format!("{}.weight", self.family.names.unembedding) }
    }

    /// The window of a layer.
    pub fn window(&self, layer: usize) -> Option<Window> {
        self.windows.get(layer).copied().flatten()
    }

    /// The rotary positions of a layer.
    pub fn rotary_of(&self, layer: usize) -> Option<&Rotary> {
        let in_window = self.rotary_in_windows.as_ref();
        in_window.filter(|_| self.window(layer).is_some()).or(self.rotary.as_ref())
    }

    /// The sequences of a file, each id and position being one that the model has.
    ///
    /// # Shapes
    /// As [`Sequence::read`].
    ///
    /// # Errors
    /// As [`Sequence::read`] and [`Sequence::expect_positions`];
    /// [`model_files::Error::Unsupported`] for types of tokens in GPT-2, which embeds them as tokens,
    /// and for positions from which it does not follow whether texts lie side by side.
    pub fn sequences(&self, file: &TensorFile) -> Result<Vec<Sequence>> {
        let refused = |found: &str, why| {
            let (file, found) = (file.name().to_string(), found.to_string());
            Err(Error::Files(model_files::Error::Unsupported { file, found, why }))
        };
        if self.family.name == "gpt2" && file.contains("token_type_ids") {
            let why = "GPT-2 adds the embedding of the token with the type's id, also of \
                       type 0, which is not done here";
            return refused("token_type_ids", why);
        }
        let sequences = Sequence::read(file, self.n_vocabulary, 1, true)?;
        Sequence::expect_positions(&sequences, file, self.n_positions)?;
        let counts = |one: &Sequence| {
            let places = one.positions.as_deref().unwrap_or_default();
            places.windows(2).all(|two| two[1] == two[0].wrapping_add(1))
        };
        if !file.contains("attention_mask") && !sequences.iter().all(counts) {
            let why = "it does not count by one and there is no attention_mask: several \
                       texts in a row, which must not see each other, or one; for one text \
                       give an attention_mask";
            return refused("position_ids", why);
        }
        Ok(sequences)
    }
}
