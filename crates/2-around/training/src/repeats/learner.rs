//! How a [`Predictor`] learns: embedding, blocks and unembedding together.

use attention::{Matrix, Result, Rng};
use gradients::{Adam, Optimiser, cross_entropy, linear_backward};

use super::predictor::largest;
use super::{HeadShares, Predictor, Repeats, Sequences};
use crate::{Batches, Learner};

/// A look at the test set.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictorLook {
    /// The number of steps taken so far.
    pub step: usize,
    /// The loss of the last step; none before the first.
    pub loss: Option<f64>,
    /// The share of right answers among those that can be known.
    pub score: f64,
    /// Where the heads look.
    pub shares: HeadShares,
    /// `maps[l][i]` is the map of head i of block l on the first test sequence,
    /// `[n_tokens, n_tokens]`.
    pub maps: Vec<Vec<Matrix>>,
}

impl Batches for Repeats {
    type Examples = Sequences;

    fn batch(&self, n_examples: usize, rng: &mut Rng) -> Result<Sequences> {
        self.draw(n_examples, rng)
    }
}

impl Learner for Predictor {
    type Examples = Sequences;
    type Look = PredictorLook;

    // Every token is asked what comes next, also where that cannot be known.
    fn descend(&mut self, read: &Sequences, adam: &mut Adam<f32>) -> Result<f32> {
        let pass = self.pass(read)?;
        let logits = self.unembedding.forward(pass.out())?;
        let loss = cross_entropy(&logits, &read.next)?;

        let d_out = linear_backward(&self.unembedding, pass.out(), &loss.gradient)?;
        let d_stack = pass.backward(&d_out.d_x)?;
        let d_embedding =
            self.embedding.backward(&read.ids, read.n_tokens, d_stack.d_x())?;

        adam.step_entries(self, &(d_embedding, d_stack, d_out.d_linear))?;
        Ok(loss.value)
    }

    fn look(&self, test: &Sequences, losses: &[f64], _: usize) -> Result<PredictorLook> {
        let pass = self.pass(test)?;
        let logits = self.unembedding.forward(pass.out())?;
        let of_first = |attn: &[Vec<Matrix<f32>>]| {
            attn[0].iter().map(|map| map.map(f64::from)).collect()
        };
        Ok(PredictorLook {
            step: losses.len(),
            loss: losses.last().copied(),
            score: test.score(&largest(&logits)),
            shares: HeadShares::of(&pass, test),
            maps: pass.blocks().iter().map(|pass| of_first(pass.attn())).collect(),
        })
    }

    fn score(look: &PredictorLook) -> f64 {
        look.score
    }
}
