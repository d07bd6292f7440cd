//! T5: relative positions as a bias per head, norms before by the root mean square, no √d_k.

use crate::NormKind;
use attention::Dims;
use block::Activation;
use model_files::Settings;
use variants::Sizes;

use super::{Places, WIDEST};
use crate::translators::config::{Config, Half};
use crate::translators::family::{Family, Names};
use crate::writing::Generation;
use crate::{Error, Result};

const ENCODER: Names = Names {
    tokens: "encoder.embed_tokens",
    positions: None,
    entry_norm: None,
    block: "encoder.block.",
    attention: [
        "layer.0.SelfAttention.q",
        "layer.0.SelfAttention.k",
        "layer.0.SelfAttention.v",
        "layer.0.SelfAttention.o",
    ],
    attention_norm: "layer.0.layer_norm",
    relative: Some("layer.0.SelfAttention.relative_attention_bias"),
    cross: None,
    cross_norm: "",
    feed_forward: ["layer.1.DenseReluDense.wi", "layer.1.DenseReluDense.wo"],
    gated: [
        "layer.1.DenseReluDense.wi_0",
        "layer.1.DenseReluDense.wi_1",
        "layer.1.DenseReluDense.wo",
    ],
    feed_forward_norm: "layer.1.layer_norm",
    last_norm: Some("encoder.final_layer_norm"),
};

/// # Source
/// Raffel et al. 2020; Shazeer 2020 (gated: T5 1.1); `T5ForConditionalGeneration` of Hugging
/// Face.
pub(super) const T5: Family = Family {
    name: "t5",
    prefix: "",
    shared: "shared",
    encoder: ENCODER,
    decoder: Names {
        tokens: "decoder.embed_tokens",
        block: "decoder.block.",
        cross: Some([
            "layer.1.EncDecAttention.q",
            "layer.1.EncDecAttention.k",
            "layer.1.EncDecAttention.v",
            "layer.1.EncDecAttention.o",
        ]),
        cross_norm: "layer.1.layer_norm",
        feed_forward: ["layer.2.DenseReluDense.wi", "layer.2.DenseReluDense.wo"],
        gated: [
            "layer.2.DenseReluDense.wi_0",
            "layer.2.DenseReluDense.wi_1",
            "layer.2.DenseReluDense.wo",
        ],
        feed_forward_norm: "layer.2.layer_norm",
        last_norm: Some("decoder.final_layer_norm"),
        ..ENCODER
    },
    norm: NormKind::RmsInF32,
    is_norm_before: true,
    has_biases: false,
    defaults: &[
        ("num_heads", 8),
        ("relative_attention_max_distance", 128),
        ("relative_attention_num_buckets", 32),
        ("eos_token_id", 1),
    ],
    other_names: &[
        ("hidden_size", "d_model"),
        ("num_attention_heads", "num_heads"),
        ("num_hidden_layers", "num_layers"),
        ("head_dim", "d_kv"),
    ],
};

pub(super) fn read(settings: &Settings) -> Result<Config> {
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
        family: &T5,
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
    let activation = found.unwrap_or_default();
    let said = settings.one_of(
        "dense_act_fn",
        activation,
        Activation::named,
        Activation::NAMES,
    )?;
    if said != activation {
        return Err(settings.wrong("dense_act_fn", "what feed_forward_proj says").into());
    }
    settings.refuse_unless("is_gated_act", is_gated, "what feed_forward_proj says")?;
    Ok((activation, is_gated))
}
