//! A `config.json`: which family a model is of, and its sizes.

use attention::Dims;
use block::Activation;
use model_files::{Sequence, Settings, Unused, harmless};
use serde_json::{Map, Value};
use tensors::TensorFile;

use crate::encoders::families::{Counting, Family, TABLE};
use crate::files::{Configuration, activation, family_of};
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

impl Configuration for Config {
    fn of(settings: &Settings) -> Result<Self> {
        let family = family_of(settings, &TABLE.families, |family| family.name)?;
        let settings = &settings.with_own_names(&family.other_names)?;
        let settings = &settings.with_defaults(&family.defaults);
        refuse_others(settings)?;
        let keys = family.keys;
        let d_model = settings.positive(keys.d_model)?;
        let dims = Dims::new(d_model, settings.positive(keys.n_heads)?);
        let of_width = |key| settings.positive(key);
        let padding = match family.counting {
            Counting::FromZero => None,
            Counting::BehindPadding { padding } => {
                let padding = settings.number("pad_token_id", Some(padding))?;
                // Behind it there must be a position.
                if padding >= settings.positive("max_position_embeddings")? {
                    let expected = "a number below max_position_embeddings";
                    return Err(settings.wrong("pad_token_id", expected).into());
                }
                Some(padding)
            }
        };
        let config = Self {
            family,
            dims: dims.map_err(Error::config(settings.file()))?,
            n_layers: settings.n_layers(keys.n_layers)?,
            d_ff: settings.positive(keys.d_ff)?,
            d_embedding: keys.d_embedding.map_or(Ok(d_model), of_width)?,
            n_vocabulary: settings.positive("vocab_size")?,
            n_positions: settings.positive("max_position_embeddings")?,
            n_types: keys.n_types.map(of_width).transpose()?,
            activation: activation(settings, keys.activation, Activation::Gelu)?,
            eps: keys.eps.map_or(Ok(1e-12), |key| settings.eps(key, 1e-12))?,
            padding,
        };
        config.unused_settings(settings)?;
        Ok(config)
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

    fn unused_tensors(&self, file: &TensorFile) -> Vec<Unused> {
        harmless(file, self.family.prefix, &TABLE.tensors)
    }
}

impl Config {
    /// The sequences of a file, each id, type and position being one that the model has.
    /// Positions of a file are rows of the table, also in a family that begins to count
    /// behind padding.
    ///
    /// # Shapes and errors
    /// As [`Sequence::read`] and [`Sequence::expect_positions`].
    pub fn sequences(&self, file: &TensorFile) -> Result<Vec<Sequence>> {
        let n_types = self.n_types.unwrap_or(1);
        let sequences = Sequence::read(file, self.n_vocabulary, n_types, false)?;
        Sequence::expect_positions(&sequences, file, self.n_positions)?;
        Ok(sequences)
    }

    /// How many tokens a text may have. Where positions begin behind padding, the first of
    /// the table are not for texts.
    pub fn longest(&self) -> usize {
        self.n_positions.saturating_sub(self.padding.map_or(0, |padding| padding + 1))
    }
}

/// What would be computed otherwise than here.
fn refuse_others(settings: &Settings) -> Result<()> {
    settings.refuse_unless("position_embedding_type", "absolute", "\"absolute\"")?;
    settings.refuse_unless("is_causal", false, "false: every token reads every other")?;
    for key in ["is_decoder", "add_cross_attention"] {
        settings.refuse_unless(key, false, "false: decoders are left out")?;
    }
    let expected = "none: every layer has all its heads";
    Ok(settings.refuse_unless("pruned_heads", Value::Object(Map::new()), expected)?)
}
