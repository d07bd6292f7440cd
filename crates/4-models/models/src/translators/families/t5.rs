//! T5: relative positions as a bias per head, norms before by the root mean square, no √d_k.

use attention::Dims;
use block::Activation;
use model_files::Settings;
use variants::Sizes;

use super::WIDEST;
use crate::files::activation;
use crate::translators::config::{Config, Half, Places};
use crate::translators::family::Family;
use crate::writing::Generation;
use crate::{Error, Result};

pub(super) fn read(settings: &Settings, family: &'static Family) -> Result<Config> {
    let d_model = settings.positive("d_model")?;
    let (n_heads, d_kv) = (settings.positive("num_heads")?, settings.positive("d_kv")?);
    let sizes = Dims::with_head_sizes(d_model, n_heads, d_kv, d_kv);
    let sizes = sizes.and_then(|dims| Sizes::new(dims, n_heads));
    let sizes = sizes.map_err(Error::config(settings.file()))?;
    let d_ff = settings.positive("d_ff")?;
    let n_layers = settings.n_layers("num_layers")?;
    let half = |n_layers| Half { sizes, n_layers, d_ff };
    let n_decoder_layers = match settings.get("num_decoder_layers") {
        None => n_layers,
        Some(_) => settings.n_layers("num_decoder_layers")?,
    };
    let (activation, is_gated) = feed_forward(settings)?;
    let n_buckets = settings.at_most("relative_attention_num_buckets", WIDEST)?;
    let max_distance = settings.positive("relative_attention_max_distance")?;
    let n_vocabulary = settings.positive("vocab_size")?;
    // The first T5 scaled its outputs and tied its head; what unties it means both.
    let is_tied = settings.flag("tie_word_embeddings", true)?;
    let is_scaled = settings.flag("scale_decoder_outputs", is_tied)?;
    Ok(Config {
        family,
        encoder: half(n_layers),
        decoder: half(n_decoder_layers),
        n_vocabulary,
        n_target_vocabulary: n_vocabulary,
        places: Places::Relative { n_buckets, max_distance },
        n_positions: None,
        activation,
        is_gated,
        eps: settings.eps("layer_norm_epsilon", 1e-6)?,
        scale: Some(1.0),
        embedding_scale: 1.0,
        logits_scale: if is_scaled { 1.0 / (d_model as f64).sqrt() } else { 1.0 },
        is_shared: true,
        // Whatever it says: a head of its own is in the file, or there is none.
        is_tied: true,
        writing: Generation::of(settings)?,
    })
}

/// What `feed_forward_proj` says, in one word or two; other keys have to say the same.
fn feed_forward(settings: &Settings) -> Result<(Activation, bool)> {
    const KEY: &str = "feed_forward_proj";
    const NAMES: &str =
        "gelu, gelu_new, silu, swish or relu, or one of them behind \"gated-\"";
    let text = settings.text(KEY).unwrap_or("relu");
    let (name, is_gated) = match text.strip_prefix("gated-") {
        Some(name) => (name, true),
        None => (text, false),
    };
    // As transformers have it, since T5 1.1 was trained with the approximation.
    let name = if text == "gated-gelu" { "gelu_new" } else { name };
    let found = Activation::named(name);
    if settings.get(KEY).is_some_and(|value| !value.is_string()) || found.is_none() {
        return Err(settings.wrong(KEY, NAMES).into());
    }
    let found = found.unwrap_or_default();
    if activation(settings, "dense_act_fn", found)? != found {
        return Err(settings.wrong("dense_act_fn", "what feed_forward_proj says").into());
    }
    settings.refuse_unless("is_gated_act", is_gated, "what feed_forward_proj says")?;
    Ok((found, is_gated))
}
