//! What a model loses without a head, next to random directions of the same width.

use ablation::{Directions, Replacement};
use attention::{LayerParameters, Mask, Matrix, Rng, SeedableRng};
use fused_heads::FusedAttention;

use crate::{At, CAP, Error, Remaining, Result, Trained, Windows, capped, rmse};

/// A model's passes over some windows up to W^O, stacked.
#[derive(Debug, Clone, PartialEq)]
pub struct Ablation {
    model: Remaining<FusedAttention>,
    layer: LayerParameters,
    targets: Vec<f64>,
    /// The tokens, `[n_windows · n_steps, d_model]`.
    x: Matrix,
    /// `Concat(head_1, …, head_h)` of each, `[n_windows · n_steps, h · d_v]`.
    concat: Matrix<f32>,
    /// The same if every reading attended to all readings alike.
    even: Matrix<f32>,
    /// What W^O makes of the concatenation, `[n_windows · n_steps, d_model]`.
    out: Matrix,
    n_steps: usize,
}

impl Ablation {
    /// Passes of a trained model over these windows.
    ///
    /// # Errors
    /// [`Error::NoAttention`] for a model without it; as [`Remaining::forward`].
    pub fn new(trained: &Trained, windows: &Windows, at: &[At]) -> Result<Self> {
        Self::of(trained, trained.layer()?, windows, at)
    }

    /// The same with another attention layer.
    fn of(
        trained: &Trained,
        layer: LayerParameters,
        windows: &Windows,
        at: &[At],
    ) -> Result<Self> {
        let model = trained.model(|_| FusedAttention::new(&layer))?;
        let stage = &model.attention.as_ref().ok_or(Error::NoAttention)?.function;
        let (mut tokens, mut concats, mut evens) = (Vec::new(), Vec::new(), Vec::new());
        for at in at {
            let x = model.tokens(&windows.readings(at)?)?;
            let pass = stage.pass(&x, &x, &x, &Mask::None)?;
            evens.push(Matrix::from_rows(&vec![pass.v.row_mean(); x.nrows()]));
            concats.push(pass.concat);
            tokens.push(x);
        }
        let below = |all: &[Matrix]| {
            let rows: Vec<_> = all.iter().flat_map(|one| one.row_iter()).collect();
            Matrix::from_rows(&rows)
        };
        let n_steps = tokens.first().map_or(0, Matrix::nrows);
        let [concat, even] = [concats, evens].map(|all| below(&all).map(|x| x as f32));
        let targets = at.iter().map(At::target).collect();
        let out = layer.w_o().forward(&concat.map(f64::from))?;
        let x = below(&tokens);
        Ok(Self { targets, x, model, layer, concat, even, out, n_steps })
    }

    /// The RMSE with all heads, in cycles.
    ///
    /// # Errors
    /// None for a model that fits together.
    pub fn whole(&self) -> Result<f64> {
        self.without(&Matrix::zeros(self.out.nrows(), self.out.ncols()))
    }

    /// The RMSE without each head, which is replaced by its mean over windows and tokens; and
    /// how far the layer's output moves.
    ///
    /// # Errors
    /// As [`whole`](Self::whole).
    pub fn heads(&self) -> Result<Vec<(f64, f64)>> {
        let heads = Directions::of_heads(self.layer.dims()).map(|head| {
            let change = self.written(&self.taken(&head));
            Ok((self.without(&change)?, moved(&change)))
        });
        heads.collect()
    }

    /// The control for each head: the RMSE without as many random directions, the same for
    /// all, scaled so that the layer's output moves as far as without that head. How it could
    /// fail: a head that is one mixture of many costs what these directions cost.
    ///
    /// # Errors
    /// As [`whole`](Self::whole).
    pub fn random(&self, heads: &[(f64, f64)], rng: &mut Rng) -> Result<Vec<f64>> {
        let random = Directions::random(self.layer.dims(), rng);
        let change = self.written(&self.taken(&random));
        let scale = 1.0 / moved(&change);
        heads
            .iter()
            .map(|(_, as_far)| self.without(&(&change * scale * *as_far)))
            .collect()
    }

    /// The RMSE with all that heads add, less its mean, made smaller by one number for all, so
    /// that the layer's output moves as far as without a head, on average over heads.
    ///
    /// # Errors
    /// As [`whole`](Self::whole).
    pub fn smaller(&self, heads: &[(f64, f64)]) -> Result<f64> {
        let change = self.written(&self.taken(&Directions::all(self.layer.dims())));
        let as_far =
            heads.iter().map(|(_, moved)| moved).sum::<f64>() / heads.len() as f64;
        self.without(&(&change * (as_far / moved(&change))))
    }

    /// The RMSE without all heads: the layer adds the same to every token.
    ///
    /// # Errors
    /// As [`whole`](Self::whole).
    pub fn all(&self) -> Result<f64> {
        self.without(&self.written(&self.taken(&Directions::all(self.layer.dims()))))
    }

    /// The RMSE with the values of all heads and the choices of none: every reading attends to
    /// all readings alike. How this control could fail: if the choices mattered, the error
    /// would rise.
    ///
    /// # Errors
    /// As [`whole`](Self::whole).
    pub fn even(&self) -> Result<f64> {
        self.without(&self.written(&(&self.concat - &self.even)))
    }

    /// Of the concatenation, what is in these directions, less its mean over all windows and
    /// tokens.
    fn taken(&self, directions: &Directions) -> Matrix<f32> {
        // A mean draws nothing.
        directions.taken(&self.concat, Replacement::Mean, &mut Rng::seed_from_u64(0))
    }

    /// What W^O makes of a part of the concatenation, without its bias.
    fn written(&self, taken: &Matrix<f32>) -> Matrix {
        taken.map(f64::from) * &self.layer.w_o().weight
    }

    /// What the model says of each window if the layer's output lacks this.
    fn says(&self, change: &Matrix) -> Result<Vec<f64>> {
        let out = &self.out - change;
        let sublayer = self.model.attention.as_ref().ok_or(Error::NoAttention)?;
        let norm = sublayer.forward(&self.x, |_, _| Ok((out, ())))?.out;
        let each = norm.row_iter().collect::<Vec<_>>();
        let pooled = each
            .chunks(self.n_steps.max(1))
            .map(|window| Matrix::from_rows(window).row_mean());
        let pooled = Matrix::from_rows(&pooled.collect::<Vec<_>>());
        let said = self.model.head.forward(&pooled)? * CAP;
        Ok(said.iter().copied().map(capped).collect())
    }

    /// The error of the same.
    fn without(&self, change: &Matrix) -> Result<f64> {
        Ok(rmse(&self.says(change)?, &self.targets))
    }
}

/// How far the layer's output moves: the mean length over rows.
fn moved(change: &Matrix) -> f64 {
    let lengths = change.row_iter().map(|row| row.norm());
    lengths.sum::<f64>() / change.nrows().max(1) as f64
}

#[cfg(test)]
mod tests;
