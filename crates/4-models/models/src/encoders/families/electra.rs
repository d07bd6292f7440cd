//! ELECTRA: BERT whose embeddings may be narrower than its blocks.

use super::bert::BERT;
use super::{Family, Keys};

/// # Source
/// Clark et al. 2020; `ElectraModel` of Hugging Face.
pub(super) const ELECTRA: Family = Family {
    name: "electra",
    prefix: "electra.",
    keys: Keys { d_embedding: Some("embedding_size"), ..BERT.keys },
    defaults: &[
        ("num_attention_heads", 4),
        ("max_position_embeddings", 512),
        ("type_vocab_size", 2),
        ("embedding_size", 128),
    ],
    ..BERT
};
