//! What each family calls its settings and its tensors.
//!
//! All are the same stack, BERT's: a table of names is what tells them apart. RoBERTa and its
//! relatives count positions from behind padding, ELECTRA's embeddings may be narrower than its
//! blocks, and DistilBERT has half of the blocks and no types of token.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::table::Table;

/// What is known of encoders.
pub(crate) static TABLE: LazyLock<Table<Family>> =
    LazyLock::new(|| Table::read(include_str!("families.json")));

/// The families that are known.
pub fn families() -> impl Iterator<Item = &'static Family> {
    TABLE.families.iter()
}

/// A family of encoders: its names, and how it counts positions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// What `model_type` says in its `config.json`.
    pub name: &'static str,
    /// Who described it, and what computes it elsewhere.
    pub source: &'static str,
    /// What stands before every tensor's name where the encoder was saved with a head on
    /// top, such as a classifier.
    pub prefix: &'static str,
    /// The keys of its `config.json`.
    pub keys: Keys,
    /// The names of its tensors.
    pub names: Names,
    /// Where its texts begin.
    pub counting: Counting,
    /// What its `config.json` has where a key is missing that no tensor's shape says.
    pub defaults: Vec<(&'static str, usize)>,
    /// Other names of keys, each with the family's own.
    pub other_names: Vec<(&'static str, &'static str)>,
}

/// How positions are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// 0, 1, 2, …, whatever the tokens are.
    FromZero,
    /// Padding has the position that is its id, and the other tokens count on from the
    /// next, without it.
    BehindPadding {
        /// The id of padding where `config.json` does not say it.
        padding: usize,
    },
}

/// The keys of a `config.json`; `None` where the family has no such choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keys {
    /// d_model.
    pub d_model: &'static str,
    /// The number of blocks.
    pub n_layers: &'static str,
    /// h.
    pub n_heads: &'static str,
    /// The width within the feed-forward layer.
    pub d_ff: &'static str,
    /// What bends its entries.
    pub activation: &'static str,
    /// eps of every norm; without, it is 10⁻¹².
    pub eps: Option<&'static str>,
    /// How many types of token there are: first and second text, say.
    pub n_types: Option<&'static str>,
    /// The width of the embeddings, where it can be another than d_model.
    pub d_embedding: Option<&'static str>,
}

/// The names of tensors, without `.weight` and `.bias`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Names {
    /// `[n_vocabulary, d_embedding]`.
    pub tokens: &'static str,
    /// `[n_positions, d_embedding]`.
    pub positions: &'static str,
    /// `[n_types, d_embedding]`.
    pub types: &'static str,
    /// The norm of the embeddings.
    pub norm: &'static str,
    /// From d_embedding to d_model, where they differ.
    pub projection: &'static str,
    /// What stands before a block's number.
    pub block: &'static str,
    /// Within a block: W^Q, W^K, W^V, W^O.
    pub attention: [&'static str; 4],
    /// The norm after attention.
    pub attention_norm: &'static str,
    /// W₁ and W₂ of the feed-forward layer.
    pub feed_forward: [&'static str; 2],
    /// The norm after it.
    pub feed_forward_norm: &'static str,
}
