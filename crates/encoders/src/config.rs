//! A `config.json`: which family a model is of, and its sizes.

use attention::Dims;
use block::Activation;
use serde_json::{Map, Value};

use crate::families::{Counting, FAMILIES, Family, family};
use crate::{Error, Result};

/// What a model's `config.json` says, as far as it matters here.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Whose names its tensors have.
    pub family: &'static Family,
    /// d_model, h, d_k.
    pub dims: Dims,
    /// The number of blocks.
    pub n_layers: usize,
    /// The width within the feed-forward layers.
    pub d_ff: usize,
    /// The width of the embeddings: d_model, but for some ELECTRAs.
    pub d_embedding: usize,
    /// How many tokens it knows.
    pub n_vocabulary: usize,
    /// How many rows its table of positions has.
    pub n_positions: usize,
    /// How many types of token there are; `None` for a family without.
    pub n_types: Option<usize>,
    /// What bends the entries of the feed-forward layers.
    pub activation: Activation,
    /// eps of every norm.
    pub eps: f64,
    /// The id of padding, for a family whose positions begin behind it.
    pub padding: Option<usize>,
}

impl Config {
    /// Reads a `config.json` as `save_pretrained` writes it; `file` is what errors call it.
    ///
    /// # Errors
    /// [`Error::Json`]; [`Error::Family`] for a family that is not known;
    /// [`Error::Setting`] for one that is missing or asks for what is not here (other
    /// kinds of position, a decoder, heads pruned away); [`Error::Config`] if the heads
    /// cannot share the width.
    ///
    /// # Source
    /// `BertConfig`, `RobertaConfig`, `ElectraConfig` and `DistilBertConfig` of Hugging
    /// Face, with their defaults where a key is missing that has a natural one.
    pub fn read(file: &str, json: &[u8]) -> Result<Self> {
        let settings = serde_json::from_slice::<Map<String, Value>>(json);
        let settings =
            settings.map_err(|source| Error::Json { file: file.to_string(), source })?;
        let settings = Settings { file, settings };
        let family = settings.family()?;
        settings.refuse_others()?;
        let keys = family.keys;
        let d_model = settings.positive(keys.d_model)?;
        let dims = Dims::new(d_model, settings.positive(keys.n_heads)?);
        let of_width = |key| settings.positive(key);
        let padding = match family.counting {
            Counting::FromZero => None,
            Counting::BehindPadding { padding } => {
                Some(settings.number("pad_token_id", Some(padding))?)
            }
        };
        Ok(Self {
            family,
            dims: dims
                .map_err(|source| Error::Config { file: file.to_string(), source })?,
            n_layers: settings.positive(keys.n_layers)?,
            d_ff: settings.positive(keys.d_ff)?,
            d_embedding: keys.d_embedding.map_or(Ok(d_model), of_width)?,
            n_vocabulary: settings.positive("vocab_size")?,
            n_positions: settings.positive("max_position_embeddings")?,
            n_types: keys.n_types.map(of_width).transpose()?,
            activation: settings.activation(keys.activation)?,
            eps: keys.eps.map_or(Ok(None), |key| settings.eps(key))?.unwrap_or(1e-12),
            padding,
        })
    }

    /// How many tokens a text may have. Where positions begin behind padding, the first of
    /// the table are not for texts.
    pub fn longest(&self) -> usize {
        self.n_positions.saturating_sub(self.padding.map_or(0, |padding| padding + 1))
    }
}

/// The object in the file.
struct Settings<'a> {
    file: &'a str,
    settings: Map<String, Value>,
}

impl Settings<'_> {
    fn wrong(&self, key: &str, expected: &'static str) -> Error {
        let found = self.settings.get(key).map(shown);
        Error::Setting {
            file: self.file.to_string(),
            key: key.to_string(),
            found,
            expected,
        }
    }

    fn family(&self) -> Result<&'static Family> {
        let named = self.settings.get("model_type").and_then(Value::as_str);
        named.and_then(family).ok_or_else(|| Error::Family {
            file: self.file.to_string(),
            found: self.settings.get("model_type").map_or("missing".into(), shown),
            known: FAMILIES.iter().map(|family| family.name).collect(),
        })
    }

    /// What would be computed otherwise than here.
    fn refuse_others(&self) -> Result<()> {
        let is = |key: &str, value: Value| {
            self.settings.get(key).is_none_or(|found| found.is_null() || *found == value)
        };
        if !is("position_embedding_type", "absolute".into()) {
            return Err(self.wrong("position_embedding_type", "\"absolute\""));
        }
        for key in ["is_decoder", "add_cross_attention"] {
            if !is(key, false.into()) {
                return Err(self.wrong(key, "false: decoders are left out"));
            }
        }
        if !is("pruned_heads", Value::Object(Map::new())) {
            return Err(self.wrong("pruned_heads", "none: every layer has all its heads"));
        }
        Ok(())
    }

    fn number(&self, key: &str, default: Option<usize>) -> Result<usize> {
        let wrong = || self.wrong(key, "a whole number of 0 or more");
        match (self.settings.get(key).filter(|value| !value.is_null()), default) {
            (None, Some(default)) => Ok(default),
            (None, None) => Err(wrong()),
            (Some(value), _) => {
                let number = value.as_u64().and_then(|number| number.try_into().ok());
                number.ok_or_else(wrong)
            }
        }
    }

    fn positive(&self, key: &str) -> Result<usize> {
        match self.number(key, None) {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(self.wrong(key, "a whole number of 1 or more")),
        }
    }

    fn eps(&self, key: &str) -> Result<Option<f64>> {
        let Some(value) = self.settings.get(key) else { return Ok(None) };
        let eps = value.as_f64().filter(|eps| *eps >= 0.0);
        eps.map(Some).ok_or_else(|| self.wrong(key, "a number of 0 or more"))
    }

    fn activation(&self, key: &str) -> Result<Activation> {
        let Some(value) = self.settings.get(key) else { return Ok(Activation::Gelu) };
        Ok(match value.as_str() {
            Some("gelu" | "gelu_python") => Activation::Gelu,
            Some("gelu_new" | "gelu_pytorch_tanh") => Activation::GeluTanh,
            Some("relu") => Activation::Relu,
            _ => return Err(self.wrong(key, "gelu, gelu_new, gelu_pytorch_tanh or relu")),
        })
    }
}

/// A value as the file has it, or the start of one that is long.
fn shown(value: &Value) -> String {
    const MOST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
