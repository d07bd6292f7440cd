//! Mistral: Llama with a window.

use model_files::Settings;

use super::llama::LLAMA;
use super::rotary::rotary;
use super::{Missing, expect_sliding, llama, windows};
use crate::Result;
use crate::config::{Biases, Config};
use crate::family::Family;

/// # Source
/// Jiang et al. 2023; `MistralForCausalLM` of Hugging Face.
pub(super) const MISTRAL: Family = Family { name: "mistral", ..LLAMA };

pub(super) fn read(settings: &Settings) -> Result<Config> {
    let config =
        llama::common(settings, Missing { n_kv_heads: Some(8), ..Missing::default() })?;
    const WINDOW: &str = "sliding_window";
    let has_window = settings.get(WINDOW).is_some() || settings.is_missing(WINDOW);
    expect_sliding(settings, config.n_layers, has_window)?;
    Ok(Config {
        family: &MISTRAL,
        rotary: Some(rotary(settings, config.dims().d_k(), None)?),
        windows: windows(settings, vec![has_window; config.n_layers], 4096)?,
        biases: Biases::default(),
        ..config
    })
}
