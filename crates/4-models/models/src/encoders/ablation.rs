//! What a text becomes without some heads, beside random others of the same layers.

use ablation::odds::BesideDraws;
use ablation::{Draws, HeadOfLayer, later, later_moved, moved};
use attention::{LayerParameters, Matrix, Real};
use block::Layers;
use serde_json::{Value, json};

use crate::Result;
use crate::encoders::pass::Stage;
use crate::encoders::{Encoder, Pass};

/// What changes in a text's pass when some heads put out something else.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The cosine of the text's vector and the vector with all heads.
    pub cosine: f64,
    /// How far each head's map moved, `[layer][head]`: see [`moved`].
    pub moved: Vec<Vec<f64>>,
}

impl Effect {
    /// Of a pass and of what [`Encoder::ablated`] made of it.
    pub fn of<T: Real>(pass: &Pass<T>, layers: Layers<T>) -> Self {
        let moved = moved(&pass.layers.attn, &layers.attn);
        let less = Pass { layers, ..pass.clone() };
        let cosine = less.embedding().dot(&pass.embedding()).to_f64();
        Self { cosine, moved }
    }
}

/// How heads are ablated: in which pass, and what stands in their stead.
pub struct Way<'a, T: Real> {
    /// The model.
    pub model: &'a Encoder<LayerParameters<T>, T>,
    /// The text with all heads.
    pub pass: &'a Pass<T>,
    /// As [`Encoder::ablated`] takes it.
    pub instead: &'a [Matrix<T>],
    /// What computes attention.
    pub stage: fn(&LayerParameters<T>) -> Stage<T>,
}

impl<T: Real> Way<'_, T> {
    fn layers(&self, heads: &[HeadOfLayer]) -> Result<Layers<T>> {
        self.model.ablated(self.pass, heads, self.instead, self.stage)
    }
}

/// Heads that are ablated, what changes, and the same of each draw so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Ablation {
    /// The heads, each once.
    pub heads: Vec<HeadOfLayer>,
    /// Their control: as many other heads of the same layers.
    pub draws: Draws,
    /// What changes without the heads.
    pub ablated: Effect,
    /// What changes without each set of the draws; the first ones, until all are computed.
    pub of_draws: Vec<Effect>,
}

impl Ablation {
    /// What changes without some heads, and no draw yet.
    ///
    /// # Errors
    /// As [`Encoder::ablated`].
    pub fn begin<T: Real>(
        way: &Way<'_, T>,
        heads: Vec<HeadOfLayer>,
        draws: Draws,
    ) -> Result<(Self, Layers<T>)> {
        let layers = way.layers(&heads)?;
        let ablated = Effect::of(way.pass, layers.clone());
        Ok((Self { heads, draws, ablated, of_draws: Vec::new() }, layers))
    }

    /// Computes the next draw, and says whether there was one.
    ///
    /// # Errors
    /// As [`Encoder::ablated`].
    pub fn draw<T: Real>(&mut self, way: &Way<'_, T>) -> Result<bool> {
        let Some(set) = self.draws.sets.get(self.of_draws.len()) else {
            return Ok(false);
        };
        self.of_draws.push(Effect::of(way.pass, way.layers(set)?));
        Ok(true)
    }

    /// A number of an effect, beside that of the draws.
    pub fn beside(&self, number: impl Fn(&Effect) -> f64) -> BesideDraws {
        BesideDraws {
            observed: number(&self.ablated),
            draws: self.of_draws.iter().map(number).collect(),
        }
    }

    /// 1 − the cosine of the text's vector and the vector with all heads.
    pub fn embedding_moved(&self) -> BesideDraws {
        self.beside(|it| 1.0 - it.cosine)
    }

    /// How far the maps of later layers moved on average; NaN where there is none.
    pub fn later_moved(&self) -> BesideDraws {
        self.beside(|it| later_moved(&it.moved, &self.heads))
    }

    /// How far the map of each head of later layers moved, layer by layer.
    pub fn later_heads(&self) -> Vec<(HeadOfLayer, BesideDraws)> {
        let moved = &self.ablated.moved;
        let layers = later(&self.heads, moved.len());
        let heads = layers.flat_map(|l| (0..moved[l].len()).map(move |i| (l, i)));
        heads.map(|(l, i)| ((l, i), self.beside(|it| it.moved[l][i]))).collect()
    }

    /// What a page shows: each number with the median and the range of the draws, how many it
    /// is above, and p; of maps those of later layers by their heads' names.
    pub fn to_json(&self, instead: &str) -> Value {
        let name = |(l, i): HeadOfLayer| format!("{l}.{i}");
        let maps = self.later_moved();
        let mut measures =
            vec![beside("1 − cosine of the embedding", &self.embedding_moved())];
        if maps.observed.is_finite() {
            measures.push(beside("maps of later layers: share moved", &maps));
        }
        let later = self.later_heads();
        let later = later.iter().map(|(head, it)| (name(*head), beside("", it)));
        json!({
            "heads": self.heads.iter().copied().map(name).collect::<Vec<_>>(),
            "instead": instead,
            "n_sets": self.draws.sets.len(),
            "n_done": self.of_draws.len(),
            "missing": self.draws.missing,
            "measures": measures,
            "moved": later.collect::<serde_json::Map<_, _>>(),
        })
    }
}

/// A number beside its draws; null for what none of them gives.
fn beside(name: &str, number: &BesideDraws) -> Value {
    json!({
        "name": name,
        "observed": number.observed,
        "median": number.median(),
        "range": number.range(),
        "n_below": number.n_below(),
        "n_draws": number.draws.len(),
        "p": number.p(),
    })
}
