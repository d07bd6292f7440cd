//! GPT-2 and GPT-NeoX.

use attention::Dims;
use block::Activation;
use model_files::Settings;
use variants::Sizes;

use super::plain;
use super::rotary::rotary;
use crate::decoders::config::{Biases, Config, ENDS};
use crate::decoders::family::Family;
use crate::files::activation;
use crate::{Error, Result};

/// A table of positions, norms before, matrices stored `[in, out]`.
pub(super) fn gpt2(settings: &Settings, family: &'static Family) -> Result<Config> {
    settings.refuse_unless("scale_attn_by_inverse_layer_idx", false, "false")?;
    let d_model = settings.positive("n_embd")?;
    let n_heads = settings.positive("n_head")?;
    let sizes = Dims::new(d_model, n_heads);
    let sizes = sizes.and_then(|dims| Sizes::new(dims, n_heads));
    let n_layers = settings.n_layers("n_layer")?;
    let d_ff = match settings.get("n_inner") {
        None => d_model.saturating_mul(4),
        Some(_) => settings.positive("n_inner")?,
    };
    let is_scaled = settings.flag("scale_attn_weights", true)?;
    Ok(Config {
        family,
        sizes: sizes.map_err(Error::config(settings.file()))?,
        n_layers,
        d_ff,
        n_vocabulary: settings.positive("vocab_size")?,
        n_positions: settings.positive("n_positions")?,
        eps: settings.eps("layer_norm_epsilon", 1e-5)?,
        activation: activation(settings, "activation_function", Activation::GeluTanh)?,
        rotary: None,
        rotary_in_windows: None,
        scale: (!is_scaled).then_some(1.0),
        soft_cap: None,
        windows: Vec::new(),
        embedding_scale: 1.0,
        last_soft_cap: None,
        biases: Biases { projections: true, out: true, feed_forward: true },
        parallel: false,
        tied: settings.flag("tie_word_embeddings", true)?,
        ends: settings.ids(ENDS)?,
    })
}

/// Pythia is one too: rotary positions on a part of each head, attention and feed-forward layer
/// side by side.
pub(super) fn gpt_neox(settings: &Settings, family: &'static Family) -> Result<Config> {
    let config = plain(settings, family, ("layer_norm_eps", 1e-5), Activation::Gelu)?;
    let bias = settings.flag("attention_bias", true)?;
    Ok(Config {
        rotary: Some(rotary(settings, config.dims().d_k(), Some(0.25))?),
        biases: Biases { projections: bias, out: bias, feed_forward: true },
        parallel: settings.flag("use_parallel_residual", true)?,
        ..config
    })
}
