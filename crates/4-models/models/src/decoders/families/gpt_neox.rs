//! GPT-NeoX, and Pythia with it: rotary positions on a part of each head, attention and
//! feed-forward layer side by side.

use block::Activation;
use model_files::Settings;

use super::rotary::rotary;
use super::{activation, sizes};
use crate::NormKind;
use crate::Result;
use crate::decoders::config::{Biases, Config, ENDS};
use crate::decoders::family::{Family, Layers, Names, Projections};

/// # Source
/// Black et al. 2022; `GPTNeoXForCausalLM` of Hugging Face.
pub(super) const GPT_NEOX: Family = Family {
    name: "gpt_neox",
    prefix: "gpt_neox.",
    names: Names {
        tokens: "embed_in",
        positions: None,
        block: "layers.",
        projections: Projections::PerHead("attention.query_key_value"),
        out: "attention.dense",
        qk_norm: None,
        attention_norm: "input_layernorm",
        after_attention: None,
        feed_forward: Layers::Plain(["mlp.dense_h_to_4h", "mlp.dense_4h_to_h"]),
        feed_forward_norm: "post_attention_layernorm",
        after_feed_forward: None,
        last_norm: "final_layer_norm",
        unembedding: "embed_out",
    },
    norm: NormKind::Layer,
    defaults: &[("num_attention_heads", 64), ("max_position_embeddings", 2048)],
    other_names: &[],
};

pub(super) fn read(settings: &Settings) -> Result<Config> {
    let sizes = sizes(settings)?;
    let n_layers = settings.n_layers("num_hidden_layers")?;
    let bias = settings.flag("attention_bias", true)?;
    Ok(Config {
        family: &GPT_NEOX,
        sizes,
        n_layers,
        d_ff: settings.positive("intermediate_size")?,
        n_vocabulary: settings.positive("vocab_size")?,
        n_positions: settings.positive("max_position_embeddings")?,
        eps: settings.eps("layer_norm_eps", 1e-5)?,
        activation: activation(settings, "hidden_act", Activation::Gelu)?,
        rotary: Some(rotary(settings, sizes.dims.d_k(), Some(0.25))?),
        rotary_in_windows: None,
        scale: None,
        soft_cap: None,
        windows: Vec::new(),
        embedding_scale: 1.0,
        last_soft_cap: None,
        biases: Biases { projections: bias, out: bias, feed_forward: true },
        parallel: settings.flag("use_parallel_residual", true)?,
        tied: settings.flag("tie_word_embeddings", false)?,
        ends: settings.ids(ENDS)?,
    })
}
