//! Qwen2: Llama with biases on queries, keys and values, and perhaps windows in its upper
//! layers.

use model_files::Settings;

use super::llama::LLAMA;
use super::rotary::rotary;
use super::{Missing, expect_sliding, llama, sliding, windows};
use crate::Result;
use crate::config::{Biases, Config};
use crate::family::Family;

/// # Source
/// Qwen Team 2024; `Qwen2ForCausalLM` of Hugging Face.
pub(super) const QWEN2: Family = Family { name: "qwen2", ..LLAMA };

pub(super) fn read(settings: &Settings) -> Result<Config> {
    let missing = Missing { n_kv_heads: Some(32), ..Missing::default() };
    let config = with_windows(settings, missing)?;
    let biases = Biases { projections: true, ..Biases::default() };
    Ok(Config { family: &QWEN2, biases, ..config })
}

/// Llama with windows in the upper layers, where they are switched on.
pub(super) fn with_windows(settings: &Settings, missing: Missing) -> Result<Config> {
    let config = llama::common(settings, missing)?;
    let n_layers = config.n_layers;
    let first = settings.number("max_window_layers", Some(28))?;
    const WINDOW: &str = "sliding_window";
    let has_window = settings.get(WINDOW).is_some() || settings.is_missing(WINDOW);
    let windows = match settings.flag("use_sliding_window", false)? {
        false => {
            expect_sliding(settings, n_layers, false)?;
            Vec::new()
        }
        true => {
            let is_sliding = |layer| has_window && layer >= first;
            windows(settings, sliding(settings, n_layers, is_sliding)?, 4096)?
        }
    };
    let rotary = Some(rotary(settings, config.dims().d_k(), None)?);
    Ok(Config { rotary, windows, ..config })
}
