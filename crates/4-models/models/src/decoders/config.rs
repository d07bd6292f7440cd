//! What a decoder's files say of it.

use attention::Dims;
use block::Activation;
use variants::{Rotary, Sizes, SoftCap, Window};

use crate::Error;
use crate::decoders::family::Family;

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
}
