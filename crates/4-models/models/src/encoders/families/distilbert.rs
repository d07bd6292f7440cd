//! DistilBERT: half of BERT's blocks, no types of token, and names of its own.

use super::bert::BERT;
use super::{Family, Keys, Names};

/// # Source
/// Sanh et al. 2019; `DistilBertModel` of Hugging Face.
pub(super) const DISTILBERT: Family = Family {
    name: "distilbert",
    prefix: "distilbert.",
    keys: Keys {
        d_model: "dim",
        n_layers: "n_layers",
        n_heads: "n_heads",
        d_ff: "hidden_dim",
        activation: "activation",
        eps: None,
        n_types: None,
        d_embedding: None,
    },
    names: Names {
        block: "transformer.layer.",
        attention: [
            "attention.q_lin",
            "attention.k_lin",
            "attention.v_lin",
            "attention.out_lin",
        ],
        attention_norm: "sa_layer_norm",
        feed_forward: ["ffn.lin1", "ffn.lin2"],
        feed_forward_norm: "output_layer_norm",
        ..BERT.names
    },
    defaults: &[("n_heads", 12), ("max_position_embeddings", 512)],
    other_names: &[
        ("hidden_size", "dim"),
        ("num_attention_heads", "n_heads"),
        ("num_hidden_layers", "n_layers"),
    ],
    ..BERT
};
