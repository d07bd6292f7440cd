//! Models in GGUF files: other names for settings and tensors, and some numbers stored
//! otherwise than in folders.
//!
//! The Llama family's queries and keys are permuted so that neighbours are rotated together;
//! no other family's are. Gemma's norms have their whole gain, where folders have it less
//! one.
//!
//! What a file says is used, or stands on a list of what changes nothing, or is refused.

mod keys;
mod rotary;
mod tensors;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use attention::Dims;
use block::Activation;
use model_files::{Gguf, GgufError, Unused};
use variants::{Pairing, Rotary, Sizes, SoftCap, Window};

use crate::decoders::config::{Biases, Config};
use crate::decoders::family::Family;
use crate::table::Table;
use crate::{Error, Result};
use keys::Keys;

/// What such files call the tensors of each architecture.
static TABLE: LazyLock<Table<Family>> =
    LazyLock::new(|| Table::read(include_str!("gguf/families.json")));

type Read = fn(&Keys, &'static Family) -> Result<Config>;

/// Every architecture, in the order of its families, and how its settings are read.
const ARCHITECTURES: [(&str, Read); 5] = [
    ("llama", |keys, family| common(keys, family, Pairing::Pairs)),
    ("qwen2", qwen2),
    ("qwen3", |keys, family| common(keys, family, Pairing::Halves)),
    ("gemma2", gemma2),
    ("gemma3", gemma3),
];
const KNOWN: &str = "\"llama\", \"qwen2\", \"qwen3\", \"gemma2\" or \"gemma3\"";

/// What a GGUF file says of its model, and the settings that change nothing, with reasons.
pub(crate) fn gguf_config(file: &Gguf) -> Result<(Config, Vec<Unused>)> {
    const ARCHITECTURE: &str = "general.architecture";
    let architecture = file.text(ARCHITECTURE)?;
    let mut all = ARCHITECTURES.iter().zip(&TABLE.families);
    let found = all.find(|((name, _), _)| *name == architecture);
    let ((name, read), family) = found.ok_or_else(|| file.wrong(ARCHITECTURE, KNOWN))?;
    const TYPE: &str = "general.type";
    if file.contains_setting(TYPE) && file.text(TYPE)? != "model" {
        return Err(file.wrong(TYPE, "\"model\"").into());
    }
    let keys = Keys::new(file, name);
    let config = read(&keys, family)?;
    file.refuse_unread(|tensor| tensors::is_read(&config, tensor))?;
    Ok((config, keys.leftovers()?))
}

/// Its queries, keys and values always have biases.
fn qwen2(keys: &Keys, family: &'static Family) -> Result<Config> {
    let config = common(keys, family, Pairing::Halves)?;
    Ok(Config { biases: Biases { projections: true, ..config.biases }, ..config })
}

fn gemma2(keys: &Keys, family: &'static Family) -> Result<Config> {
    let config = gemma(keys, family, 46)?;
    let n_keys = keys.positive_or("attention.sliding_window", 4096)?;
    let cap = |key: &str, default: f64| soft_cap(keys, keys.float_or(key, default)?);
    Ok(Config {
        soft_cap: cap("attn_logit_softcapping", 50.0)?,
        last_soft_cap: cap("final_logit_softcapping", 30.0)?,
        windows: windows(keys, config.n_layers, n_keys, 2)?,
        ..config
    })
}

/// Layers with windows have rotary positions of their own, which are not stretched.
fn gemma3(keys: &Keys, family: &'static Family) -> Result<Config> {
    let config = gemma(keys, family, 62)?;
    const SCALING: &str = "rope.scaling.type";
    if keys.text(SCALING)? == Some("yarn") {
        return Err(keys.wrong(SCALING, "\"none\" or \"linear\"").into());
    }
    let (name, base) = (keys.file.name(), keys.float_or("rope.freq_base_swa", 10_000.0)?);
    let in_windows = config.rotary.as_ref().map(|rotary| {
        let in_windows = Rotary::new(rotary.pairing, rotary.n_rotated(), base)?;
        Ok(Rotary { amplitude: rotary.amplitude, ..in_windows })
    });
    const WINDOW: &str = "attention.sliding_window";
    const CAP: &str = "final_logit_softcapping";
    Ok(Config {
        rotary_in_windows: in_windows.transpose().map_err(Error::config(name))?,
        last_soft_cap: match keys.contains(CAP) {
            true => soft_cap(keys, keys.float(CAP)?)?,
            false => None,
        },
        windows: match keys.contains(WINDOW) {
            true => windows(keys, config.n_layers, keys.positive(WINDOW)?, 6)?,
            false => Vec::new(),
        },
        ..config
    })
}

/// What the Gemmas have alike; `largest` is the number of layers of the largest, whose
/// scores are divided by something of its own: no setting says so.
///
/// # Source
/// `gemma2.cpp` and `gemma3.cpp` of <https://github.com/ggml-org/llama.cpp>, for what files
/// do not say.
fn gemma(keys: &Keys, family: &'static Family, largest: usize) -> Result<Config> {
    let config = common(keys, family, Pairing::Halves)?;
    let dims = config.dims();
    let divisor = match config.n_layers == largest {
        true => dims.d_model() / dims.n_heads(),
        false => dims.d_k(),
    };
    Ok(Config {
        activation: Activation::GeluTanh,
        scale: Some(1.0 / (divisor as f64).sqrt()),
        embedding_scale: (dims.d_model() as f64).sqrt(),
        ..config
    })
}

fn soft_cap(keys: &Keys, cap: f64) -> Result<Option<SoftCap>> {
    SoftCap::new(cap).map(Some).map_err(Error::config(keys.file.name()))
}

/// A window in all layers but the last of each period.
fn windows(
    keys: &Keys,
    n_layers: usize,
    n_keys: usize,
    period: usize,
) -> Result<Vec<Option<Window>>> {
    let period = keys.positive_or("attention.sliding_window_pattern", period)?;
    let window = Window::last(n_keys).map_err(Error::config(keys.file.name()))?;
    Ok((0..n_layers).map(|i| (i % period + 1 < period).then_some(window)).collect())
}

/// What all architectures say alike.
fn common(keys: &Keys, family: &'static Family, pairing: Pairing) -> Result<Config> {
    let file = keys.file;
    let dims = dims(keys)?;
    let n_kv_heads =
        keys.same_for_all("attention.head_count_kv", Some(dims.n_heads()))?;
    let sizes = Sizes::new(dims, n_kv_heads).map_err(Error::config(file.name()))?;
    for key in ["expert_count", "expert_used_count"] {
        keys.refuse_unless_0(key, "0: one feed-forward layer for all tokens")?;
    }
    keys.refuse_unless_true("attention.causal", "true: tokens read those before them")?;
    let n_layers = keys.positive("block_count")?;
    if n_layers > file.tensors().len() {
        return Err(keys.wrong("block_count", "no more layers than tensors").into());
    }
    let n_vocabulary = match file.contains_setting("tokenizer.ggml.tokens") {
        false => keys.positive("vocab_size")?,
        true => {
            let n_tokens = file.texts("tokenizer.ggml.tokens")?.len();
            keys.positive_or("vocab_size", n_tokens)?
        }
    };
    let d_ff = keys.same_for_all("feed_forward_length", None)?;
    tensors::expect_first(file, sizes, d_ff, n_vocabulary)?;
    let n_positions = keys.positive("context_length")?;
    let rotary = rotary::read(keys, pairing, dims.d_k(), n_positions)?;
    Ok(Config {
        family,
        sizes,
        n_layers,
        d_ff,
        n_vocabulary,
        n_positions,
        eps: keys.float("attention.layer_norm_rms_epsilon")?,
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
        ends: ends(file)?,
    })
}

fn dims(keys: &Keys) -> Result<Dims> {
    let d_model = keys.positive("embedding_length")?;
    let n_heads = keys.same_for_all("attention.head_count", None)?;
    let [key, value] = ["attention.key_length", "attention.value_length"];
    let dims = match keys.contains(key) || keys.contains(value) {
        false => Dims::new(d_model, n_heads),
        true => {
            let width = d_model / n_heads;
            let (d_k, d_v) =
                (keys.positive_or(key, width)?, keys.positive_or(value, width)?);
            Dims::with_head_sizes(d_model, n_heads, d_k, d_v)
        }
    };
    dims.map_err(Error::config(keys.file.name()))
}

/// The tokens that end a text, or a turn of a conversation.
fn ends(file: &Gguf) -> Result<Vec<usize>, GgufError> {
    let keys = ["eos", "eot", "eom"].map(|end| format!("tokenizer.ggml.{end}_token_id"));
    let known = keys.iter().filter(|key| file.contains_setting(key));
    let mut ends = known.map(|key| file.size(key)).collect::<Result<Vec<_>, _>>()?;
    ends.dedup();
    Ok(ends)
}
