//! Llama in a GGUF file: other names, and queries and keys whose entries are permuted so
//! that neighbours are rotated together.

use attention::Dims;
use block::Activation;
use model_files::{Gguf, GgufError};
use variants::{Pairing, Rotary, Sizes};

use super::llama::LLAMA;
use super::within;
use crate::Result;
use crate::config::{Biases, Config};
use crate::family::{Family, Layers, Names, Projections};

/// # Source
/// The names as <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md> has them.
const GGUF: Family = Family {
    prefix: "",
    names: Names {
        tokens: "token_embd",
        positions: None,
        block: "blk.",
        projections: Projections::Apart(["attn_q", "attn_k", "attn_v"]),
        out: "attn_output",
        qk_norm: None,
        attention_norm: "attn_norm",
        after_attention: None,
        feed_forward: Layers::Gated(["ffn_gate", "ffn_up", "ffn_down"]),
        feed_forward_norm: "ffn_norm",
        after_feed_forward: None,
        last_norm: "output_norm",
        unembedding: "output",
    },
    ..LLAMA
};

/// What a GGUF file of the Llama family says of its model.
///
/// # Errors
/// [`GgufError::Setting`] for another architecture, a setting
/// that is missing, or one that asks for what is not here;
/// [`Error::Config`](crate::Error::Config) for sizes that make no layer.
pub(crate) fn gguf_config(file: &Gguf) -> Result<Config> {
    if file.text("general.architecture")? != "llama" {
        return Err(file.wrong("general.architecture", "\"llama\"").into());
    }
    refuse_others(file)?;
    let positive = |key: &str| positive(file, key);
    let or = |key: &str, default: usize| match file.contains_setting(key) {
        true => positive(key),
        false => Ok(default),
    };
    let dims = dims(file)?;
    let wrong = within(file.name());
    let n_kv_heads = or("llama.attention.head_count_kv", dims.n_heads())?;
    let n_rotated = or("llama.rope.dimension_count", dims.d_k())?;
    let base = match file.contains_setting("llama.rope.freq_base") {
        true => file.float("llama.rope.freq_base")?,
        false => 10_000.0,
    };
    let rotary = Rotary::new(Pairing::Pairs, n_rotated, base).map_err(&wrong)?;
    let n_vocabulary = match file.contains_setting("llama.vocab_size") {
        true => positive("llama.vocab_size")?,
        false => file.texts("tokenizer.ggml.tokens")?.len(),
    };
    let n_layers = positive("llama.block_count")?;
    const END: &str = "tokenizer.ggml.eos_token_id";
    Ok(Config {
        family: &GGUF,
        sizes: Sizes::new(dims, n_kv_heads).map_err(wrong)?,
        n_layers,
        d_ff: positive("llama.feed_forward_length")?,
        n_vocabulary,
        n_positions: positive("llama.context_length")?,
        eps: file.float("llama.attention.layer_norm_rms_epsilon")?,
        activation: Activation::Silu,
        rotary: Some(rotary),
        rotary_in_windows: None,
        scale: None,
        soft_cap: None,
        windows: Vec::new(),
        embedding_scale: 1.0,
        last_soft_cap: None,
        // No setting says so.
        biases: Biases {
            projections: file.contains("blk.0.attn_q.bias"),
            out: file.contains("blk.0.attn_output.bias"),
            feed_forward: file.contains("blk.0.ffn_up.bias"),
        },
        parallel: false,
        tied: !file.contains("output.weight"),
        ends: if file.contains_setting(END) { vec![file.size(END)?] } else { Vec::new() },
    })
}

fn dims(file: &Gguf) -> Result<Dims> {
    let positive = |key: &str| positive(file, key);
    let d_model = positive("llama.embedding_length")?;
    let n_heads = positive("llama.attention.head_count")?;
    let dims = match file.contains_setting("llama.attention.key_length") {
        false => Dims::new(d_model, n_heads),
        true => Dims::with_head_sizes(
            d_model,
            n_heads,
            positive("llama.attention.key_length")?,
            positive("llama.attention.value_length")?,
        ),
    };
    dims.map_err(|source| within(file.name())(source.into()))
}

fn positive(file: &Gguf, key: &str) -> Result<usize, GgufError> {
    match file.size(key) {
        Ok(size) if size > 0 => Ok(size),
        _ => Err(file.wrong(key, "a whole number of 1 or more")),
    }
}

/// What would be computed otherwise than here.
fn refuse_others(file: &Gguf) -> Result<()> {
    const SCALING: &str = "llama.rope.scaling.type";
    if file.contains_setting(SCALING) && file.text(SCALING)? != "none" {
        return Err(file.wrong(SCALING, "\"none\"").into());
    }
    const EXPERTS: &str = "llama.expert_count";
    if file.contains_setting(EXPERTS) && file.size(EXPERTS)? > 0 {
        return Err(file
            .wrong(EXPERTS, "0: one feed-forward layer for all tokens")
            .into());
    }
    if file.contains("rope_freqs.weight") {
        let what = "it has a tensor rope_freqs.weight: rotary positions that are stretched \
                    are not read";
        let (file, what) = (file.name().to_string(), what.to_string());
        return Err(GgufError::Header { file, what }.into());
    }
    Ok(())
}
