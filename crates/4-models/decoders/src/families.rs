//! From a `config.json` to what the model computes, family by family.
//!
//! All six are one model. What a family says of it is in its file, what several say alike
//! is here.

mod gemma2;
mod gguf;
mod gpt2;
mod gpt_neox;
mod llama;
mod mistral;
mod qwen2;

use attention::Dims;
use block::Activation;
use model_files::Settings;
use variants::{Pairing, Rotary, Sizes, SoftCap, Window};

use crate::config::Config;
use crate::family::Family;
use crate::{Error, Result};

pub(crate) use gguf::gguf_config;

type Read = fn(&Settings) -> Result<Config>;

/// Every family, and how its settings are read: the only list of them.
const FAMILIES: &[(&Family, Read)] = &[
    (&gpt2::GPT2, gpt2::read),
    (&gpt_neox::GPT_NEOX, gpt_neox::read),
    (&llama::LLAMA, llama::read),
    (&mistral::MISTRAL, mistral::read),
    (&qwen2::QWEN2, qwen2::read),
    (&gemma2::GEMMA2, gemma2::read),
];

/// The families that are known.
pub fn families() -> impl Iterator<Item = &'static Family> {
    FAMILIES.iter().map(|(family, _)| *family)
}

impl Config {
    /// Reads a `config.json` as `save_pretrained` writes it; `file` is what errors call it.
    ///
    /// # Errors
    /// [`model_files::Error::Json`], [`model_files::Error::Family`],
    /// [`model_files::Error::Setting`] for one that is missing or asks for what is not here;
    /// [`Error::Config`] for sizes that make no layer.
    ///
    /// # Source
    /// The configs of these families in Hugging Face's transformers, with their defaults
    /// where a key is missing that has a natural one.
    pub fn read(file: &str, json: &[u8]) -> Result<Self> {
        Self::of(&Settings::read(file, json)?)
    }

    /// The same from settings that are read already.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn of(settings: &Settings) -> Result<Self> {
        let name = settings.text("model_type").unwrap_or_default();
        let read = FAMILIES.iter().find(|(family, _)| family.name == name);
        let known = || families().map(|family| family.name).collect();
        let (_, read) = read.ok_or_else(|| settings.unknown_family(known()))?;
        read(settings)
    }
}

/// An error of sizes with its file.
fn within(file: &str) -> impl Fn(variants::Error) -> Error {
    let file = file.to_string();
    move |source| Error::Config { file: file.clone(), source }
}

/// Sizes under the names that all but GPT-2 use.
fn sizes(settings: &Settings) -> Result<Sizes> {
    let wrong = within(settings.file());
    let d_model = settings.positive("hidden_size")?;
    let n_heads = settings.positive("num_attention_heads")?;
    let n_kv_heads = match settings.get("num_key_value_heads") {
        Some(_) => settings.positive("num_key_value_heads")?,
        None => n_heads,
    };
    let dims = match settings.get("head_dim") {
        Some(_) => {
            let width = settings.positive("head_dim")?;
            Dims::with_head_sizes(d_model, n_heads, width, width)
        }
        None => Dims::new(d_model, n_heads),
    };
    let dims = dims.map_err(|source| wrong(source.into()))?;
    Sizes::new(dims, n_kv_heads).map_err(wrong)
}

/// Rotary positions, under the names of transformers 5 (`rope_parameters`) and 4.
/// What bends the entries of the feed-forward layers.
fn activation(settings: &Settings, key: &str, default: Activation) -> Result<Activation> {
    Ok(settings.one_of(key, default, Activation::named, Activation::NAMES)?)
}

fn rotary(settings: &Settings, d_k: usize, share: f64) -> Result<Rotary> {
    let none = Settings::read(settings.file(), b"{}")?;
    let rope = settings.within("rope_parameters");
    let rope = rope.or_else(|| settings.within("rope_scaling")).unwrap_or(none);
    let first = |keys: &[(&Settings, &str)], default: f64| -> Result<f64> {
        for (settings, key) in keys {
            if let Some(number) = settings.above_0(key)? {
                return Ok(number);
            }
        }
        Ok(default)
    };
    let bases =
        [(&rope, "rope_theta"), (settings, "rope_theta"), (settings, "rotary_emb_base")];
    let base = first(&bases, 10_000.0)?;
    const SHARE: &str = "partial_rotary_factor";
    let share =
        first(&[(&rope, SHARE), (settings, SHARE), (settings, "rotary_pct")], share)?;
    // As in transformers: of an odd number, the last pair rotates an entry more.
    let n_rotated = (d_k as f64 * share) as usize;
    let exponent = |p: usize| -2.0 * p as f64 / n_rotated as f64;
    let frequencies = (0..n_rotated.div_ceil(2)).map(|p| base.powf(exponent(p)));
    let frequencies = stretched(&rope, settings, frequencies.collect())?;
    Ok(Rotary { pairing: Pairing::Halves, frequencies })
}

/// Frequencies for texts longer than those of the training.
///
/// # Source
/// Chen et al. 2023 (linear); Llama Team 2024, as in transformers (llama3).
fn stretched(rope: &Settings, all: &Settings, frequencies: Vec<f64>) -> Result<Vec<f64>> {
    let needed = |key: &str| -> Result<f64> {
        rope.above_0(key)?.ok_or_else(|| rope.wrong(key, "a number above 0").into())
    };
    let key = if rope.get("rope_type").is_some() { "rope_type" } else { "type" };
    match rope.text(key).unwrap_or("default") {
        "default" => Ok(frequencies),
        "linear" => {
            let factor = needed("factor")?;
            Ok(frequencies.into_iter().map(|frequency| frequency / factor).collect())
        }
        "llama3" => {
            let (low, high) = (needed("low_freq_factor")?, needed("high_freq_factor")?);
            let before = match rope.above_0("original_max_position_embeddings")? {
                Some(before) => before,
                None => all.positive("max_position_embeddings")? as f64,
            };
            let factor = needed("factor")?;
            let stretch = |frequency: f64| {
                let rounds = before * frequency / std::f64::consts::TAU;
                let kept = ((rounds - low) / (high - low)).clamp(0.0, 1.0);
                frequency * (kept + (1.0 - kept) / factor)
            };
            Ok(frequencies.into_iter().map(stretch).collect())
        }
        _ => Err(rope.wrong(key, "\"default\", \"linear\" or \"llama3\"").into()),
    }
}

/// The window of each layer: `layer_types` where it is there, or else what `is_sliding`
/// says of a layer.
fn windows(
    settings: &Settings,
    n_layers: usize,
    is_sliding: impl Fn(usize) -> bool,
) -> Result<Vec<Option<Window>>> {
    const TYPES: &str = "layer_types";
    let expected =
        "a list with \"sliding_attention\" or \"full_attention\" for each layer";
    let wrong = || Error::from(settings.wrong(TYPES, expected));
    let sliding: Vec<bool> = match settings.get(TYPES) {
        None => (0..n_layers).map(is_sliding).collect(),
        Some(types) => {
            let types = types.as_array().filter(|types| types.len() == n_layers);
            let of = |kind: &serde_json::Value| match kind.as_str() {
                Some("sliding_attention") => Ok(true),
                Some("full_attention") => Ok(false),
                _ => Err(wrong()),
            };
            types.ok_or_else(wrong)?.iter().map(of).collect::<Result<_>>()?
        }
    };
    let window = || -> Result<Window> {
        let n_keys = settings.positive("sliding_window")?;
        Window::last(n_keys).map_err(within(settings.file()))
    };
    sliding.into_iter().map(|is_sliding| is_sliding.then(window).transpose()).collect()
}

fn soft_cap(settings: &Settings, key: &str) -> Result<Option<SoftCap>> {
    let cap = settings.above_0(key)?.map(SoftCap::new).transpose();
    cap.map_err(within(settings.file()))
}

/// The tokens that end a text: one id, or a list.
fn ends(settings: &Settings) -> Vec<usize> {
    let id = |value: &serde_json::Value| value.as_u64()?.try_into().ok();
    match settings.get("eos_token_id") {
        None => Vec::new(),
        Some(value) => match value.as_array() {
            Some(ids) => ids.iter().filter_map(id).collect(),
            None => id(value).into_iter().collect(),
        },
    }
}
