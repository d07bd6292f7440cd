//! What a family calls its tensors, and where its norms stand.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::NormKind;
use crate::table::Table;

/// What is known of encoder-decoders.
pub(crate) static TABLE: LazyLock<Table<Family>> =
    LazyLock::new(|| Table::read(include_str!("families.json")));

/// A family of encoder-decoders.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// What `model_type` says in its `config.json`.
    pub name: &'static str,
    /// Who described it, and what computes it elsewhere.
    pub source: &'static str,
    /// What stands before the names of its tensors where it was saved with logits on top.
    pub prefix: &'static str,
    /// The tokens that both sides share.
    pub shared: &'static str,
    /// The names of the encoder's tensors.
    pub encoder: Names,
    /// The names of the decoder's.
    pub decoder: Names,
    /// Which norm it uses.
    pub norm: NormKind,
    /// Whether a layer's norm is before it, as `x + f(norm(x))`, or behind the sum.
    pub is_norm_before: bool,
    /// Whether projections have biases.
    pub has_biases: bool,
    /// What its `config.json` has where a key is missing that no tensor's shape says.
    pub defaults: Vec<(&'static str, usize)>,
    /// Other names of keys, each with the family's own.
    pub other_names: Vec<(&'static str, &'static str)>,
    /// Keys of files before transformers 4, which say what the family does anyway.
    pub fixed: Vec<(&'static str, bool)>,
}

/// The names of one side's tensors, without `.weight` and `.bias`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Names {
    /// `[n_vocabulary, d_model]`, where the side has tokens of its own.
    pub tokens: &'static str,
    /// `[n_positions, d_model]`, in a family that has such a table.
    pub positions: Option<&'static str>,
    /// A norm of what enters the first block.
    pub entry_norm: Option<&'static str>,
    /// What stands before a block's number.
    pub block: &'static str,
    /// Within a block: W^Q, W^K, W^V and W^O of the attention to the side's own tokens.
    pub attention: [&'static str; 4],
    /// Its norm.
    pub attention_norm: &'static str,
    /// The bias of relative positions, which only the first block has.
    pub relative: Option<&'static str>,
    /// The same four of the attention to the source, in a decoder.
    pub cross: Option<[&'static str; 4]>,
    /// Its norm.
    pub cross_norm: &'static str,
    /// W₁ and W₂.
    pub feed_forward: [&'static str; 2],
    /// The gate, what it lets through, and the way down, where the layer is gated.
    pub gated: [&'static str; 3],
    /// The norm of the feed-forward layer.
    pub feed_forward_norm: &'static str,
    /// A norm behind the last block.
    pub last_norm: Option<&'static str>,
}
