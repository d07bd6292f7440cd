//! Llama and its relatives: rotary positions, shared keys and values, norms by the root mean
//! square, gated feed-forward layers. SmolLM2 is one too.

use block::Activation;
use model_files::Settings;

use super::rotary::rotary;
use super::{WINDOW, expect_sliding, plain, sliding, windows};
use crate::Result;
use crate::decoders::config::{Biases, Config};
use crate::decoders::family::Family;

pub(super) fn llama(settings: &Settings, family: &'static Family) -> Result<Config> {
    let config = common(settings, family)?;
    expect_sliding(settings, config.n_layers, false)?;
    let rotary = Some(rotary(settings, config.dims().d_k(), None)?);
    Ok(Config { rotary, ..config })
}

/// Llama with a window.
pub(super) fn mistral(settings: &Settings, family: &'static Family) -> Result<Config> {
    let config = common(settings, family)?;
    let has_window = settings.get(WINDOW).is_some();
    expect_sliding(settings, config.n_layers, has_window)?;
    Ok(Config {
        rotary: Some(rotary(settings, config.dims().d_k(), None)?),
        windows: windows(settings, vec![has_window; config.n_layers])?,
        biases: Biases::default(),
        ..config
    })
}

/// Llama with biases on queries, keys and values, and perhaps windows in its upper layers.
pub(super) fn qwen2(settings: &Settings, family: &'static Family) -> Result<Config> {
    let config = with_windows(settings, family)?;
    Ok(Config { biases: Biases { projections: true, ..Biases::default() }, ..config })
}

/// Qwen2 with a norm of queries and keys in place of their biases.
pub(super) fn qwen3(settings: &Settings, family: &'static Family) -> Result<Config> {
    let config = with_windows(settings, family)?;
    Ok(Config { biases: Biases { feed_forward: false, ..config.biases }, ..config })
}

/// Llama with windows in the upper layers, where they are switched on.
fn with_windows(settings: &Settings, family: &'static Family) -> Result<Config> {
    let config = common(settings, family)?;
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

/// What the families after Llama have alike, all but the rotary positions.
pub(super) fn common(settings: &Settings, family: &'static Family) -> Result<Config> {
    let config = plain(settings, family, ("rms_norm_eps", 1e-6), Activation::Silu)?;
    let bias = settings.flag("attention_bias", false)?;
    let feed_forward = settings.flag("mlp_bias", false)?;
    Ok(Config { biases: Biases { projections: bias, out: bias, feed_forward }, ..config })
}
