//! A sentence becomes maps; without some heads too.

use ablation::{Draws, HeadOfLayer};
use attention::{LayerParameters, Matrix};
use fused_heads::FusedAttention;
use maps::TextHeads;
use model_files::MOST_SHOWN;
use models::encoders::{Ablation, Encoder, Pass, Stage, Way};
use models::finite;
use serde_json::{Value, json};
use texts::{Long, Text};

use crate::Error;

/// A model in which every token reads every other.
#[derive(Debug)]
pub struct Model {
    text: Text,
    encoder: Encoder<LayerParameters<f32>, f32>,
}

/// A sentence in all heads.
#[derive(Debug)]
pub struct Looked {
    /// Its tokens and their maps.
    pub text: TextHeads,
    pass: Pass<f32>,
    zeros: Vec<Matrix<f32>>,
}

/// So many draws, from this seed on, as `cargo learn ablate` takes them.
const DRAWS: (usize, u64) = (20, 0);

fn stage(parameters: &LayerParameters<f32>) -> Stage<f32> {
    Box::new(FusedAttention::new(parameters))
}

impl Model {
    pub(crate) fn new(text: Text, encoder: Encoder<LayerParameters<f32>, f32>) -> Self {
        Self { text, encoder }
    }

    /// What a reader is told of it.
    pub fn about(&self) -> Value {
        let config = &self.encoder.config;
        json!({
            "writes": false,
            "family": config.family.name,
            "n_layers": config.n_layers,
            "n_heads": config.dims.n_heads(),
            "longest": config.longest().min(MOST_SHOWN),
        })
    }

    /// A sentence in all heads.
    ///
    /// # Errors
    /// As [`Text::pieces`] and [`Encoder::pass`]; [`Error::LongPage`].
    pub fn look(&self, sentence: &str) -> Result<Looked, Error> {
        let longest = self.encoder.config.longest();
        let pieces = self.text.pieces(sentence, longest, Long::Refuse)?;
        let n_tokens = pieces.pieces.len();
        if n_tokens > MOST_SHOWN {
            return Err(Error::LongPage { n_tokens });
        }
        let pass = self.encoder.pass(&pieces.sequence, stage)?;
        // A page is told numbers as JSON, which has no NaN.
        let attn = finite(pass.layers.clone())?.attn;
        let text = TextHeads::of_encoder(pieces.pieces, pieces.is_special, attn);
        Ok(Looked { text, zeros: pass.zeros(), pass })
    }

    /// The same sentence without some heads, zeros in their stead: what changes, and its maps.
    ///
    /// # Errors
    /// As [`Encoder::ablated`].
    pub fn ablate(
        &self,
        looked: &Looked,
        mut heads: Vec<HeadOfLayer>,
    ) -> Result<(Ablation, TextHeads), Error> {
        heads.sort_unstable();
        heads.dedup();
        let n_heads = self.encoder.config.dims.n_heads();
        let draws = Draws::new(&heads, n_heads, DRAWS.0, DRAWS.1);
        let (ablation, layers) = Ablation::begin(&self.way(looked), heads, draws)?;
        let maps = finite(layers)?.attn;
        Ok((ablation, TextHeads { maps, ..looked.text.clone() }))
    }

    /// Computes the next draw of an ablation on that sentence, and says whether there was one.
    ///
    /// # Errors
    /// As [`Encoder::ablated`].
    pub fn draw(&self, looked: &Looked, ablation: &mut Ablation) -> Result<bool, Error> {
        Ok(ablation.draw(&self.way(looked))?)
    }

    fn way<'a>(&'a self, Looked { pass, zeros, .. }: &'a Looked) -> Way<'a, f32> {
        Way { model: &self.encoder, pass, instead: zeros, stage }
    }
}
