//! BERT, and sentence models that were built like it, MiniLM among them.

use super::{Counting, Family, Keys, Names};

/// # Source
/// Devlin et al. 2019; `BertModel` of Hugging Face.
pub(super) const BERT: Family = Family {
    name: "bert",
    prefix: "bert.",
    keys: Keys {
        d_model: "hidden_size",
        n_layers: "num_hidden_layers",
        n_heads: "num_attention_heads",
        d_ff: "intermediate_size",
        activation: "hidden_act",
        eps: Some("layer_norm_eps"),
        n_types: Some("type_vocab_size"),
        d_embedding: None,
    },
    names: Names {
        tokens: "embeddings.word_embeddings",
        positions: "embeddings.position_embeddings",
        types: "embeddings.token_type_embeddings",
        norm: "embeddings.LayerNorm",
        projection: "embeddings_project",
        block: "encoder.layer.",
        attention: [
            "attention.self.query",
            "attention.self.key",
            "attention.self.value",
            "attention.output.dense",
        ],
        attention_norm: "attention.output.LayerNorm",
        feed_forward: ["intermediate.dense", "output.dense"],
        feed_forward_norm: "output.LayerNorm",
    },
    counting: Counting::FromZero,
    defaults: &[
        ("num_attention_heads", 12),
        ("max_position_embeddings", 512),
        ("type_vocab_size", 2),
    ],
    other_names: &[],
};
