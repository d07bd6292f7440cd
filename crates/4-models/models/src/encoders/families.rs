//! What each family calls its settings and its tensors.
//!
//! All are the same stack, BERT's: a table of names is what tells them apart. RoBERTa and its
//! relatives count positions from behind padding, ELECTRA's embeddings may be narrower than its
//! blocks, and DistilBERT has half of the blocks and no types of token.

use std::sync::LazyLock;

use model_files::Rule;
use model_files::Use::{self, Harmless};
use serde::Deserialize;

use crate::table;

/// The families that are known.
pub static FAMILIES: LazyLock<Vec<Family>> =
    LazyLock::new(|| table::rows(include_str!("families.json")));

/// Keys of a `config.json` that change nothing in any encoder.
pub(crate) const KEYS: &[Rule] = &[
    Rule("tie_word_embeddings tie_weights_", Harmless("of a head on top")),
    Rule("sinusoidal_pos_embds", Harmless("the table of positions is in the file")),
    Rule("directionality", Harmless("a note on the text")),
    Rule("embedding_size", Harmless("the tables in the file have it")),
];

const HEAD: Use = Harmless("a head on top, which the encoder does not have");
const BUFFER: Use = Harmless("0, 1, 2, …, or zeros: counted here");

/// Tensors that are no part of any encoder.
pub(crate) const TENSORS: &[Rule] = &[
    Rule("embeddings.position_ids embeddings.token_type_ids", BUFFER),
    Rule(
        "pooler.* cls.* classifier.* lm_head.* qa_outputs.* pre_classifier.* \
         vocab_transform.* vocab_layer_norm.* vocab_projector.* \
         discriminator_predictions.* generator_predictions.* generator_lm_head.* \
         sequence_summary.*",
        HEAD,
    ),
];

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
