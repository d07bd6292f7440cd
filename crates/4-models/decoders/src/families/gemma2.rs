//! Gemma 2: norms before and after each layer, soft caps, a window in every other layer.

use block::Activation;
use model_files::Settings;

use super::llama::LLAMA;
use super::{activation, llama, soft_cap, windows};
use crate::Result;
use crate::config::{Biases, Config};
use crate::family::{Family, Names, NormKind};

/// # Source
/// Gemma Team 2024; `Gemma2ForCausalLM` of Hugging Face.
pub(super) const GEMMA2: Family = Family {
    name: "gemma2",
    names: Names {
        after_attention: Some("post_attention_layernorm"),
        feed_forward_norm: "pre_feedforward_layernorm",
        after_feed_forward: Some("post_feedforward_layernorm"),
        ..LLAMA.names
    },
    norm: NormKind::RmsLessOne,
    ..LLAMA
};

pub(super) fn read(settings: &Settings) -> Result<Config> {
    settings.refuse_unless("use_bidirectional_attention", false, "false")?;
    let config = llama::read(settings)?;
    let activation = match settings.get("hidden_activation") {
        None => Activation::GeluTanh,
        Some(_) => activation(settings, "hidden_activation", Activation::GeluTanh)?,
    };
    let d_k = settings.above_0("query_pre_attn_scalar")?.unwrap_or(256.0);
    let bias = settings.flag("attention_bias", false)?;
    Ok(Config {
        family: &GEMMA2,
        activation,
        scale: Some(1.0 / d_k.sqrt()),
        soft_cap: soft_cap(settings, "attn_logit_softcapping")?,
        last_soft_cap: soft_cap(settings, "final_logit_softcapping")?,
        windows: windows(settings, config.n_layers, |layer| layer % 2 == 0)?,
        embedding_scale: (config.dims().d_model() as f64).sqrt(),
        biases: Biases { projections: bias, out: bias, feed_forward: false },
        tied: settings.flag("tie_word_embeddings", true)?,
        ..config
    })
}
