//! Qwen2: Llama with biases on queries, keys and values, and perhaps windows in its upper
//! layers.

use model_files::Settings;

use super::llama::LLAMA;
use super::{llama, windows};
use crate::Result;
use crate::config::{Biases, Config};
use crate::family::Family;

/// # Source
/// Qwen Team 2024; `Qwen2ForCausalLM` of Hugging Face.
pub(super) const QWEN2: Family = Family { name: "qwen2", ..LLAMA };

pub(super) fn read(settings: &Settings) -> Result<Config> {
    let config = llama::read(settings)?;
    let n_layers = config.n_layers;
    let windows = match settings.flag("use_sliding_window", false)? {
        false => vec![None; n_layers],
        true => {
            let first = settings.number("max_window_layers", Some(28))?;
            let has_window = settings.get("sliding_window").is_some();
            windows(settings, n_layers, |layer| has_window && layer >= first)?
        }
    };
    let biases = Biases { projections: true, ..Biases::default() };
    Ok(Config { family: &QWEN2, windows, biases, ..config })
}
