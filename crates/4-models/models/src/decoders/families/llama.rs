//! Llama, and SmolLM2 with it: rotary positions, shared keys and values, norms by the root
//! mean square, gated feed-forward layers.

use block::Activation;
use model_files::Settings;

use super::rotary::rotary;
use super::{activation, expect_sliding, sizes};
use crate::NormKind;
use crate::Result;
use crate::decoders::config::{Biases, Config, ENDS};
use crate::decoders::family::{Family, Layers, Names, Projections};

/// # Source
/// Touvron et al. 2023; `LlamaForCausalLM` of Hugging Face.
pub(super) const LLAMA: Family = Family {
    name: "llama",
    prefix: "model.",
    names: Names {
        tokens: "embed_tokens",
        positions: None,
        block: "layers.",
        projections: Projections::Apart([
            "self_attn.q_proj",
            "self_attn.k_proj",
            "self_attn.v_proj",
        ]),
        out: "self_attn.o_proj",
        qk_norm: None,
        attention_norm: "input_layernorm",
        after_attention: None,
        feed_forward: Layers::Gated(["mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"]),
        feed_forward_norm: "post_attention_layernorm",
        after_feed_forward: None,
        last_norm: "norm",
        unembedding: "lm_head",
    },
    norm: NormKind::Rms,
    defaults: &[("num_attention_heads", 32), ("max_position_embeddings", 2048)],
    other_names: &[],
};

pub(super) fn read(settings: &Settings) -> Result<Config> {
    let config = common(settings)?;
    expect_sliding(settings, config.n_layers, false)?;
    let rotary = Some(rotary(settings, config.dims().d_k(), None)?);
    Ok(Config { rotary, ..config })
}

/// What the families after Llama have alike, all but the rotary positions.
pub(super) fn common(settings: &Settings) -> Result<Config> {
    let sizes = sizes(settings)?;
    let n_layers = settings.n_layers("num_hidden_layers")?;
    let bias = settings.flag("attention_bias", false)?;
    Ok(Config {
        family: &LLAMA,
        sizes,
        n_layers,
        d_ff: settings.positive("intermediate_size")?,
        n_vocabulary: settings.positive("vocab_size")?,
        n_positions: settings.positive("max_position_embeddings")?,
        eps: settings.eps("rms_norm_eps", 1e-6)?,
        activation: activation(settings, "hidden_act", Activation::Silu)?,
        rotary: None,
        rotary_in_windows: None,
        scale: None,
        soft_cap: None,
        windows: Vec::new(),
        embedding_scale: 1.0,
        last_soft_cap: None,
        biases: Biases {
            projections: bias,
            out: bias,
            feed_forward: settings.flag("mlp_bias", false)?,
        },
        parallel: false,
        tied: settings.flag("tie_word_embeddings", false)?,
        ends: settings.ids(ENDS)?,
    })
}
