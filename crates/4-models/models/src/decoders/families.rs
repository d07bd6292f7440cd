//! From a `config.json` to what the model computes, family by family.
//!
//! All are one model. What a family says of it is a function of its own, what several say
//! alike is here.

mod gemma;
mod gguf;
mod gpt;
mod llama;
mod rotary;

use std::sync::LazyLock;

use attention::Dims;
use block::Activation;
use model_files::{Gguf, Settings, SmallFiles, Unused, harmless};
use tensors::TensorFile;
use variants::{Sizes, SoftCap, Window};

use crate::decoders::config::{Biases, Config, ENDS};
use crate::decoders::family::Family;
use crate::files::{Configuration, activation, family_of};
use crate::table::Table;
use crate::{Error, Result};

type Read = fn(&Settings, &'static Family) -> Result<Config>;

/// How the settings of each family are read.
const READ: [(&str, Read); 8] = [
    ("gpt2", gpt::gpt2),
    ("gpt_neox", gpt::gpt_neox),
    ("llama", llama::llama),
    ("mistral", llama::mistral),
    ("qwen2", llama::qwen2),
    ("qwen3", llama::qwen3),
    ("gemma2", gemma::gemma2),
    ("gemma3_text", gemma::gemma3),
];

/// What is known of decoders.
pub(crate) static TABLE: LazyLock<Table<Family>> =
    LazyLock::new(|| Table::read(include_str!("families.json")));

/// The families that are known.
pub fn families() -> impl Iterator<Item = &'static Family> {
    TABLE.families.iter()
}

impl Configuration for Config {
    fn of(settings: &Settings) -> Result<Self> {
        let (_, read) = family_of(settings, &READ, |(name, _)| name)?;
        let family = family_of(settings, &TABLE.families, |family| family.name)?;
        let settings = &settings.with_own_names(&family.other_names)?;
        let settings = &settings.with_defaults(&family.defaults);
        let expected = "true: tokens read those before them";
        settings.refuse_unless("is_causal", true, expected)?;
        settings.refuse_unless("add_cross_attention", false, "false")?;
        let config = read(settings, family)?;
        config.unused_settings(settings)?;
        Ok(config)
    }

    fn of_gguf(file: &Gguf) -> Result<(Self, Vec<Unused>)> {
        gguf::gguf_config(file)
    }

    fn with_generation(mut self, files: &SmallFiles) -> Result<Self> {
        const FILE: &str = "generation_config.json";
        let Some(json) = files.read(FILE)? else { return Ok(self) };
        let ends = Settings::read(&files.name(FILE), &json)?.ids(ENDS)?;
        if !ends.is_empty() {
            self.ends = ends;
        }
        Ok(self)
    }

    fn is_causal(&self) -> bool {
        true
    }

    fn family(&self) -> &'static str {
        self.family.name
    }

    fn n_vocabulary(&self) -> usize {
        self.n_vocabulary
    }

    fn unused_settings(&self, settings: &Settings) -> Result<Vec<Unused>> {
        Ok(settings.leftovers(&TABLE.keys)?)
    }

    /// Also where the settings say that the embedding is the unembedding, and the file that it
    /// is not.
    fn unused_tensors(&self, file: &TensorFile) -> Vec<Unused> {
        let mut unused = harmless(file, self.family.prefix, &TABLE.tensors);
        let names = &self.family.names;
        let has = |name: &str| file.contains(&format!("{name}.weight"));
        let tokens = format!("{}{}", file.prefix(self.family.prefix), names.tokens);
        if self.tied && has(names.unembedding) && has(&tokens) {
            let why = "the file has an unembedding, which is used";
            unused.push(Unused { name: "tie_word_embeddings".into(), why });
        }
        unused
    }
}

/// What all but GPT-2 say under the same names, and nothing that only some have: no positions,
/// biases, caps or windows. `eps` is what the family calls it, and what it is unless it is said.
fn plain(
    settings: &Settings,
    family: &'static Family,
    (eps, usual_eps): (&str, f64),
    usual_activation: Activation,
) -> Result<Config> {
    let sizes = sizes(settings)?;
    Ok(Config {
        family,
        sizes,
        n_layers: settings.n_layers("num_hidden_layers")?,
        d_ff: settings.positive("intermediate_size")?,
        n_vocabulary: settings.positive("vocab_size")?,
        n_positions: settings.positive("max_position_embeddings")?,
        eps: settings.eps(eps, usual_eps)?,
        activation: activation(settings, "hidden_act", usual_activation)?,
        rotary: None,
        rotary_in_windows: None,
        scale: None,
        soft_cap: None,
        windows: Vec::new(),
        embedding_scale: 1.0,
        last_soft_cap: None,
        biases: Biases::default(),
        parallel: false,
        tied: settings.flag("tie_word_embeddings", false)?,
        ends: settings.ids(ENDS)?,
    })
}

/// Sizes under the names that all but GPT-2 use.
fn sizes(settings: &Settings) -> Result<Sizes> {
    let d_model = settings.positive("hidden_size")?;
    let n_heads = settings.positive("num_attention_heads")?;
    let of = |key: &str| settings.get(key).map(|_| settings.positive(key)).transpose();
    let n_kv_heads = of("num_key_value_heads")?.unwrap_or(n_heads);
    let dims = match of("head_dim")? {
        Some(width) => Dims::with_head_sizes(d_model, n_heads, width, width),
        None => Dims::new(d_model, n_heads),
    };
    dims.and_then(|dims| Sizes::new(dims, n_kv_heads))
        .map_err(Error::config(settings.file()))
}

/// Which layers have windows: `layer_types` where it is there, or else what `is_sliding`
/// says of a layer.
fn sliding(
    settings: &Settings,
    n_layers: usize,
    is_sliding: impl Fn(usize) -> bool,
) -> Result<Vec<bool>> {
    const TYPES: &str = "layer_types";
    let expected =
        "a list with \"sliding_attention\" or \"full_attention\" for each layer";
    let wrong = || Error::from(settings.wrong(TYPES, expected));
    let Some(types) = settings.get(TYPES) else {
        return Ok((0..n_layers).map(is_sliding).collect());
    };
    let types = types.as_array().filter(|types| types.len() == n_layers);
    let of = |kind: &serde_json::Value| match kind.as_str() {
        Some("sliding_attention") => Ok(true),
        Some("full_attention") => Ok(false),
        _ => Err(wrong()),
    };
    types.ok_or_else(wrong)?.iter().map(of).collect()
}

/// The window of each layer.
fn windows(settings: &Settings, sliding: Vec<bool>) -> Result<Vec<Option<Window>>> {
    let window = || -> Result<Window> {
        let n_keys = settings.positive(WINDOW)?;
        Window::last(n_keys).map_err(Error::config(settings.file()))
    };
    sliding.into_iter().map(|is_sliding| is_sliding.then(window).transpose()).collect()
}

/// How many keys a query sees in a layer with a window.
const WINDOW: &str = "sliding_window";

/// Refuses `layer_types` that say otherwise than the family computes.
fn expect_sliding(settings: &Settings, n_layers: usize, expected: bool) -> Result<()> {
    let found = sliding(settings, n_layers, |_| expected)?;
    if found.iter().any(|found| *found != expected) {
        let expected = "the same for all layers, as sliding_window says";
        return Err(settings.wrong("layer_types", expected).into());
    }
    Ok(())
}

/// A bound; `missing` where there is no such key, and null is none.
fn soft_cap(
    settings: &Settings,
    key: &str,
    missing: Option<f64>,
) -> Result<Option<SoftCap>> {
    let missing = missing.filter(|_| settings.is_missing(key));
    let cap = settings.above_0(key)?.or(missing).map(SoftCap::new).transpose();
    cap.map_err(Error::config(settings.file()))
}
