//! Mistral: Llama with a window.

use model_files::Settings;

use super::llama::LLAMA;
use super::{llama, windows};
use crate::Result;
use crate::config::{Biases, Config};
use crate::family::Family;

/// # Source
/// Jiang et al. 2023; `MistralForCausalLM` of Hugging Face.
pub(super) const MISTRAL: Family = Family { name: "mistral", ..LLAMA };

pub(super) fn read(settings: &Settings) -> Result<Config> {
    let config = llama::read(settings)?;
    let has_window = settings.get("sliding_window").is_some();
    Ok(Config {
        family: &MISTRAL,
        windows: windows(settings, config.n_layers, |_| has_window)?,
        biases: Biases::default(),
        ..config
    })
}
