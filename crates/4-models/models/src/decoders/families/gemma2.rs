//! Gemma 2: norms before and after each layer, soft caps, a window in every other layer.

use block::Activation;
use model_files::Settings;

use super::llama::LLAMA;
use super::rotary::rotary;
use super::{WINDOW, activation, llama, sliding, soft_cap, windows};
use crate::NormKind;
use crate::Result;
use crate::decoders::config::{Biases, Config};
use crate::decoders::family::{Family, Names};

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
    defaults: &[
        ("num_attention_heads", 8),
        ("num_key_value_heads", 4),
        ("head_dim", 256),
        ("max_position_embeddings", 8192),
        ("query_pre_attn_scalar", 256),
        (WINDOW, 4096),
    ],
    ..LLAMA
};

pub(super) fn read(settings: &Settings) -> Result<Config> {
    let config = common(settings)?;
    let is_sliding = sliding(settings, config.n_layers, |layer| layer % 2 == 0)?;
    Ok(Config {
        family: &GEMMA2,
        rotary: Some(rotary(settings, config.dims().d_k(), None)?),
        soft_cap: soft_cap(settings, "attn_logit_softcapping", Some(50.0))?,
        last_soft_cap: soft_cap(settings, "final_logit_softcapping", Some(30.0))?,
        windows: windows(settings, is_sliding)?,
        ..config
    })
}

/// What Gemma 2 and 3 have alike.
pub(super) fn common(settings: &Settings) -> Result<Config> {
    settings.refuse_unless("use_bidirectional_attention", false, "false")?;
    let config = llama::common(settings)?;
    let activation = match settings.get("hidden_activation") {
        None => Activation::GeluTanh,
        Some(_) => activation(settings, "hidden_activation", Activation::GeluTanh)?,
    };
    const SCALAR: &str = "query_pre_attn_scalar";
    let d_k = settings.above_0(SCALAR)?;
    let d_k = d_k.ok_or_else(|| settings.wrong(SCALAR, "a number above 0"))?;
    Ok(Config {
        activation,
        scale: Some(1.0 / d_k.sqrt()),
        embedding_scale: (config.dims().d_model() as f64).sqrt(),
        biases: Biases { feed_forward: false, ..config.biases },
        tied: settings.flag("tie_word_embeddings", true)?,
        ..config
    })
}
