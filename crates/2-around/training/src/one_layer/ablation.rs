//! The scores of a model without its heads.

use ablation::{Directions, Replacement, Site};
use attention::{Matrix, Result, Rng, median};

use crate::one_layer::{Examples, Model};

#[cfg(test)]
mod tests;

/// The scores of a model, whole and with each head ablated in turn; and as a control the
/// same for random directions.
///
/// A head is d_v directions of the concatenation. The control ablates d_v others, drawn at
/// random, and takes as much away. If it did the same harm, harm would say nothing about
/// heads.
#[derive(Debug, Clone, PartialEq)]
pub struct Ablation {
    /// The score of each target with all heads.
    pub whole: Vec<f64>,
    /// The scores without head i, `[n_heads, n_targets]`.
    pub ablated: Matrix,
    /// The scores without random directions, one draw each.
    pub controls: Vec<Control>,
}

/// A model without some random directions of its concatenation.
#[derive(Debug, Clone, PartialEq)]
pub struct Control {
    /// By how much what was taken away was multiplied, so that the layer's output misses
    /// as much as without a head.
    pub scale: f64,
    /// The scores.
    pub ablated: Vec<f64>,
}

impl Ablation {
    /// How many times random directions are drawn.
    pub const N_DRAWS: usize = 10;

    /// Ablates each head in turn, and random directions.
    ///
    /// The control is matched at the layer's output: what it takes away there is as long,
    /// on average over the examples, as what a head takes away, on average over the heads.
    ///
    /// # Errors
    /// [`attention::Error`] if the examples do not fit the model.
    pub fn of(
        model: &Model,
        examples: &Examples,
        replacement: Replacement,
        rng: &mut Rng,
    ) -> Result<Self> {
        let concat = model.concat(examples)?;
        let site = model.site(&concat, replacement);
        let scores_ablated = |taken: &Matrix<f32>| -> Result<Vec<f64>> {
            Ok(examples.answers.scores(&model.read(&(&concat - taken))?))
        };
        let whole = model.scores(examples)?;

        let (heads, moved) = site.heads(rng);
        let mut ablated = Matrix::zeros(heads.len(), whole.len());
        for (head, taken) in heads.iter().enumerate() {
            ablated.row_mut(head).copy_from_slice(&scores_ablated(taken)?);
        }

        let mut controls = Vec::new();
        for _ in 0..Self::N_DRAWS {
            let (taken, scale) = site.control(moved, rng);
            controls.push(Control { scale, ablated: scores_ablated(&taken)? });
        }
        Ok(Self { whole, ablated, controls })
    }

    /// What each target loses with each head, `[n_heads, n_targets]`; below 0 where it
    /// is better off.
    pub fn losses(&self) -> Matrix {
        let (n_heads, n_targets) = self.ablated.shape();
        Matrix::from_fn(n_heads, n_targets, |i, r| self.whole[r] - self.ablated[(i, r)])
    }

    /// What each target loses with random directions, `[N_DRAWS, n_targets]`.
    pub fn control_losses(&self) -> Matrix {
        Matrix::from_fn(self.controls.len(), self.whole.len(), |draw, r| {
            self.whole[r] - self.controls[draw].ablated[r]
        })
    }

    /// The median of [`control_losses`](Self::control_losses), target by target.
    pub fn control_medians(&self) -> Vec<f64> {
        let losses = self.control_losses();
        losses.column_iter().map(|target| median(target.iter().copied())).collect()
    }

    /// The head without which each target loses most.
    pub fn needed(&self) -> Vec<usize> {
        strongest(&self.losses())
    }
}

/// For each column the row with the largest entry: of what heads do for targets,
/// `[n_heads, n_targets]`, the head that does most.
pub fn strongest(of_heads: &Matrix) -> Vec<usize> {
    of_heads.column_iter().map(|target| target.argmax().0).collect()
}

impl Model {
    /// The score of each target with one head's output replaced, as
    /// [`Ablation::ablated`] holds it for every head.
    ///
    /// # Errors
    /// [`Error::NoSuchIndex`](attention::Error::NoSuchIndex); [`attention::Error`]
    /// if the examples do not fit the model.
    pub fn scores_ablated(
        &self,
        head: usize,
        examples: &Examples,
        replacement: Replacement,
        rng: &mut Rng,
    ) -> Result<Vec<f64>> {
        let directions = Directions::of_head(self.layer.parameters().dims(), head)?;
        let concat = self.concat(examples)?;
        let taken = self.site(&concat, replacement).taken(&directions, rng);
        Ok(examples.answers.scores(&self.read(&(&concat - taken))?))
    }

    /// Where heads are ablated: at the asking tokens, all of them alike.
    fn site<'a>(&'a self, concat: &'a Matrix<f32>, replacement: Replacement) -> Site<'a> {
        let parameters = self.layer.parameters();
        let (dims, w_o) = (parameters.dims(), parameters.w_o());
        Site { dims, concat, w_o, replacement, n_positions: 1 }
    }

    /// The outputs of all heads at the asking tokens, concatenated,
    /// `[n_examples, h · d_v]`.
    pub(crate) fn concat(&self, examples: &Examples) -> Result<Matrix<f32>> {
        Ok(self.pass(examples)?.concat().clone())
    }

    /// What the model makes of a concatenation: W^O, then the readout.
    pub(crate) fn read(&self, concat: &Matrix<f32>) -> Result<Matrix<f32>> {
        self.readout.forward(&self.layer.parameters().w_o().forward(concat)?)
    }
}
