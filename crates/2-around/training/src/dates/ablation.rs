//! What is left of the dates without each head of the cross-attention, and without as many
//! random directions.

use ablation::{Directions, Replacement, Site, ablated_output};
use attention::{Linear, Matrix, Result, Rng};
use fused_heads::FusedAttention;

use super::{DateConverter, DateTexts, N_TARGET};

/// The share of whole dates, without each head and without random directions. What is
/// missing is 0 in its stead.
#[derive(Debug, Clone, PartialEq)]
pub struct DateAblation {
    /// Without head i.
    pub ablated: Vec<f64>,
    /// With head i alone.
    pub alone: Vec<f64>,
    /// Without any head.
    pub all_ablated: f64,
    /// Without as many random directions of the concatenation as a head has, draw by draw.
    pub random: Vec<f64>,
    /// The same directions, scaled so that the attention's output misses as much as without
    /// a head, on average over heads.
    pub scaled: Vec<f64>,
    /// The numbers by which they were scaled.
    pub scales: Vec<f64>,
}

impl DateAblation {
    /// How many times random directions are drawn.
    pub const N_DRAWS: usize = 10;

    /// Ablates each head in turn, all others, all, and random directions.
    ///
    /// # Errors
    /// As [`DateConverter::encode`].
    pub fn of(model: &DateConverter, texts: &DateTexts, rng: &mut Rng) -> Result<Self> {
        let whole = |model: Result<DateConverter>| model?.whole(texts);
        let heads: Vec<usize> = (0..model.n_heads()).collect();
        let others = |head: usize| -> Vec<usize> {
            heads.iter().copied().filter(|&it| it != head).collect()
        };
        let ablated = heads.iter().map(|&head| whole(model.ablated(&[head])));
        let ablated = ablated.collect::<Result<_>>()?;
        let alone = heads.iter().map(|&head| whole(model.ablated(&others(head))));
        let alone = alone.collect::<Result<_>>()?;
        let all_ablated = whole(model.ablated(&heads))?;

        let concat = model.concat(texts)?;
        let site = model.site(&concat);
        let moved = site.heads(rng).1;
        let (mut random, mut scaled, mut scales) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..Self::N_DRAWS {
            let directions = Directions::random(site.dims, rng);
            let scale = moved / site.moved(&site.taken(&directions, rng));
            random.push(whole(model.directions_ablated(&directions, 1.0))?);
            scaled.push(whole(model.directions_ablated(&directions, scale))?);
            scales.push(scale);
        }
        Ok(Self { ablated, alone, all_ablated, random, scaled, scales })
    }

    /// The heads without which fewer dates are whole than in the worst of these draws.
    pub fn needed(&self, draws: &[f64]) -> Vec<usize> {
        let worst = draws.iter().copied().fold(f64::INFINITY, f64::min);
        let needed = |head: &usize| self.ablated[*head] < worst;
        (0..self.ablated.len()).filter(needed).collect()
    }
}

impl DateConverter {
    /// Without some heads of the cross-attention: their rows of W^O are 0.
    ///
    /// # Errors
    /// As [`ablated_output`].
    pub fn ablated(&self, heads: &[usize]) -> Result<Self> {
        let heads: Vec<_> = heads.iter().map(|&head| (head, None)).collect();
        let parameters = self.cross().parameters();
        let (w_o, dims) = (parameters.w_o(), parameters.dims());
        self.with_output(ablated_output(w_o, dims, &heads)?)
    }

    /// Without directions of the concatenation; `scale` times as much of them is taken.
    pub(crate) fn directions_ablated(
        &self,
        directions: &Directions,
        scale: f64,
    ) -> Result<Self> {
        let w_o = self.cross().parameters().w_o();
        let less = directions.replaced_in(w_o, None)?.weight;
        let weight = &w_o.weight + (less - &w_o.weight) * scale as f32;
        self.with_output(Linear::new(weight, w_o.bias.clone())?)
    }

    fn with_output(&self, w_o: Linear<f32>) -> Result<Self> {
        let parameters = self.cross().parameters().clone();
        let dims = parameters.dims();
        let mut projections = parameters.into_projections();
        projections[3] = w_o;
        let parameters = attention::PackedParameters::new(dims, projections)?;
        let mut with = self.clone();
        if let Some(cross) = &mut with.model.decoder.blocks[0].cross {
            cross.function = FusedAttention::from_packed(parameters);
        }
        Ok(with)
    }

    /// The concatenation of the cross-attention while the right letters are written,
    /// `[n_dates · N_TARGET, h · d_v]`.
    pub(super) fn concat(&self, texts: &DateTexts) -> Result<Matrix<f32>> {
        let memory = self.memory(texts)?;
        let pass = self.decode(&texts.given(), &memory, texts, None)?;
        Ok(pass.blocks()[0].cross()?.concat.clone())
    }

    /// Where directions are taken: zeros come from nowhere, so no position differs.
    pub(super) fn site<'a>(&'a self, concat: &'a Matrix<f32>) -> Site<'a> {
        let parameters = self.cross().parameters();
        let (dims, w_o) = (parameters.dims(), parameters.w_o());
        let n_positions = N_TARGET;
        Site { dims, concat, w_o, replacement: Replacement::Zero, n_positions }
    }
}
