//! Qwen2: Llama with biases on queries, keys and values, and perhaps windows in its upper
//! layers.

use model_files::Settings;

use super::llama::LLAMA;
use super::rotary::rotary;
use super::{WINDOW, expect_sliding, llama, sliding, windows};
use crate::Result;
use crate::decoders::config::{Biases, Config};
use crate::decoders::family::Family;

/// # Source
/// Qwen Team 2024; `Qwen2ForCausalLM` of Hugging Face.
pub(super) const QWEN2: Family = Family {
    name: "qwen2",
    defaults: &[
        ("num_attention_heads", 32),
        ("num_key_value_heads", 32),
        ("max_position_embeddings", 32_768),
        (WINDOW, 4096),
        ("max_window_layers", 28),
    ],
    ..LLAMA
};

pub(super) fn read(settings: &Settings) -> Result<Config> {
    let config = with_windows(settings)?;
    let biases = Biases { projections: true, ..Biases::default() };
    Ok(Config { family: &QWEN2, biases, ..config })
}

/// Llama with windows in the upper layers, where they are switched on.
pub(super) fn with_windows(settings: &Settings) -> Result<Config> {
    let config = llama::common(settings)?;
    let n_layers = config.n_layers;
    let first = settings.number("max_window_layers", None)?;
    let has_window = settings.get(WINDOW).is_some();
    let windows = match settings.flag("use_sliding_window", false)? {
        false => {
            expect_sliding(settings, n_layers, false)?;
            Vec::new()
        }
        true => {
            let is_sliding = |layer| has_window && layer >= first;
            windows(settings, sliding(settings, n_layers, is_sliding)?)?
        }
    };
    let rotary = Some(rotary(settings, config.dims().d_k(), None)?);
    Ok(Config { rotary, windows, ..config })
}
