//! What is trained: one layer, one readout.

use attention::{
    Dims, Error, LayerParameters, Linear, Mask, Matrix, MultiHeadAttention, Result, Rng,
};
use fused_heads::FusedAttention;
use gradients::{Entries, LayerPass};

use crate::one_layer::{Examples, Task};

/// An attention layer and the linear readout of its output.
///
/// In `f32`, for speed: no digit beyond the seventh says anything about what was learned.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The layer.
    pub layer: FusedAttention<f32>,
    /// From what comes out, `[n, d_model]`, to the answers, `[n, n_answers]`.
    pub readout: Linear<f32>,
}

gradients::entries!([] f32, Model: layer, readout);

/// What a model says of examples, and what its heads attended to.
#[derive(Debug, Clone)]
pub struct Prediction {
    /// The answers, `[n_examples, n_answers]`.
    pub answers: Matrix<f32>,
    /// `rows[i]` holds what the asking tokens attend to in head i, an example a row,
    /// `[n_examples, n_tokens]`.
    pub rows: Vec<Matrix>,
}

impl Model {
    /// Random parameters for a task.
    ///
    /// # Errors
    /// [`attention::Error`] if the heads cannot share `d_model`.
    pub fn random(task: &impl Task, n_heads: usize, rng: &mut Rng) -> Result<Self> {
        let dims = Dims::new(task.d_model(), n_heads)?;
        Error::expect_positive("the number of answers", task.n_answers())?;
        let layer = FusedAttention::new(&LayerParameters::random(dims, true, rng));
        let readout = Linear::random(task.d_model(), task.n_answers(), true, rng);
        Ok(Self { layer, readout })
    }

    /// The number of heads.
    pub fn n_heads(&self) -> usize {
        self.layer.dims().n_heads()
    }

    /// The number of parameters, layer and readout.
    pub fn n_parameters(&self) -> usize {
        self.n_entries()
    }

    /// The asking tokens read the examples.
    pub(super) fn pass<'a>(
        &'a self,
        examples: &'a Examples,
    ) -> Result<LayerPass<'a, f32>> {
        let Examples { asking, tokens, .. } = examples;
        LayerPass::forward_batch(&self.layer, asking, tokens, tokens, &[Mask::None])
    }

    /// What the model says of examples.
    pub(crate) fn say(&self, examples: &Examples) -> Result<Prediction> {
        let Examples { asking, tokens, .. } = examples;
        let seen = self.layer.forward_batch(asking, tokens, tokens, &[Mask::None])?;
        let row_of = |i: usize, s: usize, t: usize| f64::from(seen.attn[s][i][(0, t)]);
        let rows = (0..self.n_heads()).map(|i| {
            let shape = (tokens.n_sequences(), tokens.n_tokens());
            Matrix::from_fn(shape.0, shape.1, |s, t| row_of(i, s, t))
        });
        let rows = rows.collect();
        Ok(Prediction { answers: self.readout.forward(seen.out.tokens())?, rows })
    }

    /// What the model would say if its heads had attended like this: the values, W^O and
    /// the readout are its own.
    ///
    /// # Shapes
    /// `rows` is as in [`Prediction`].
    pub(crate) fn say_attending(
        &self,
        examples: &Examples,
        rows: &[Matrix],
    ) -> Result<Matrix<f32>> {
        let p = self.layer.parameters();
        let v = p.w_v().forward(examples.tokens.tokens())?; // [n · n_tokens, h · d_v]
        let (n, n_tokens) = (examples.tokens.n_sequences(), examples.tokens.n_tokens());
        let d_v = p.dims().d_v();
        Error::expect_shape("the list of rows", (self.n_heads(), 1), (rows.len(), 1))?;
        let mut concat = Matrix::zeros(n, p.dims().concat_width());
        for (i, rows_i) in rows.iter().enumerate() {
            let what = format!("what head {i} attends to");
            Error::expect_shape(what, (n, n_tokens), rows_i.shape())?;
            for s in 0..n {
                let v_i = v.view((s * n_tokens, i * d_v), (n_tokens, d_v));
                let head_i = rows_i.row(s).map(|share| share as f32) * v_i; // [1, d_v]
                concat.view_mut((s, i * d_v), (1, d_v)).copy_from(&head_i);
            }
        }
        self.read(&concat)
    }

    /// How right it is, target by target; see [`Answers::scores`](super::Answers::scores).
    pub(crate) fn scores(&self, examples: &Examples) -> Result<Vec<f64>> {
        Ok(examples.answers.scores(&self.say(examples)?.answers))
    }
}
