//! GPT-2: a table of positions, norms before, matrices stored `[in, out]`.

use attention::Dims;
use block::Activation;
use model_files::Settings;
use variants::Sizes;

use super::activation;
use crate::NormKind;
use crate::decoders::config::{Biases, Config, ENDS};
use crate::decoders::family::{Family, Layers, Names, Projections};
use crate::{Error, Result};

/// # Source
/// Radford et al. 2019; `GPT2LMHeadModel` of Hugging Face.
pub(super) const GPT2: Family = Family {
    name: "gpt2",
    prefix: "transformer.",
    names: Names {
        tokens: "wte",
        positions: Some("wpe"),
        block: "h.",
        projections: Projections::Joined("attn.c_attn"),
        out: "attn.c_proj",
        qk_norm: None,
        attention_norm: "ln_1",
        after_attention: None,
        feed_forward: Layers::Plain(["mlp.c_fc", "mlp.c_proj"]),
        feed_forward_norm: "ln_2",
        after_feed_forward: None,
        last_norm: "ln_f",
        unembedding: "lm_head",
    },
    norm: NormKind::Layer,
    defaults: &[("n_head", 12), ("n_positions", 1024)],
    other_names: &[
        ("hidden_size", "n_embd"),
        ("max_position_embeddings", "n_positions"),
        ("num_attention_heads", "n_head"),
        ("num_hidden_layers", "n_layer"),
    ],
};

pub(super) fn read(settings: &Settings) -> Result<Config> {
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
        family: &GPT2,
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
