//! Mistral: Llama with a window.

use model_files::Settings;

use super::llama::LLAMA;
use super::rotary::rotary;
use super::{WINDOW, expect_sliding, llama, windows};
use crate::Result;
use crate::decoders::config::{Biases, Config};
use crate::decoders::family::Family;

/// # Source
/// Jiang et al. 2023; `MistralForCausalLM` of Hugging Face.
pub(super) const MISTRAL: Family = Family {
    name: "mistral",
    defaults: &[
        ("num_attention_heads", 32),
        ("num_key_value_heads", 8),
        ("max_position_embeddings", 131_072),
        (WINDOW, 4096),
    ],
    ..LLAMA
};

pub(super) fn read(settings: &Settings) -> Result<Config> {
    let config = llama::common(settings)?;
    let has_window = settings.get(WINDOW).is_some();
    expect_sliding(settings, config.n_layers, has_window)?;
    Ok(Config {
        family: &MISTRAL,
        rotary: Some(rotary(settings, config.dims().d_k(), None)?),
        windows: windows(settings, vec![has_window; config.n_layers])?,
        biases: Biases::default(),
        ..config
    })
}
