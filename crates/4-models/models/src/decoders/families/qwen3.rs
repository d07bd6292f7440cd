//! Qwen3: Qwen2 with a norm of queries and keys in place of their biases.

use model_files::Settings;

use super::llama::LLAMA;
use super::{WINDOW, qwen2};
use crate::Result;
use crate::decoders::config::{Biases, Config};
use crate::decoders::family::{Family, Names};

/// # Source
/// Qwen Team 2025; `Qwen3ForCausalLM` of Hugging Face.
pub(super) const QWEN3: Family = Family {
    name: "qwen3",
    names: Names {
        qk_norm: Some(["self_attn.q_norm", "self_attn.k_norm"]),
        ..LLAMA.names
    },
    defaults: &[
        ("num_attention_heads", 32),
        ("num_key_value_heads", 32),
        ("head_dim", 128),
        ("max_position_embeddings", 32_768),
        (WINDOW, 4096),
        ("max_window_layers", 28),
    ],
    ..LLAMA
};

pub(super) fn read(settings: &Settings) -> Result<Config> {
    let config = qwen2::with_windows(settings)?;
    let biases = Biases { feed_forward: false, ..config.biases };
    Ok(Config { family: &QWEN3, biases, ..config })
}
