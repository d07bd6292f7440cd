//! The words of a sentence, named by heads that share keys and values.

use attention::{Dims, Linear, Mask, Result, Rng};
use gradients::{Adam, Optimiser, linear_backward};
use variants::{Changes, Sizes, VariantAttention, VariantPass};

use crate::Learner;
use crate::lookups::Lookups;
use crate::one_layer::{Examples, Task, mean};

/// A layer and its readout, as [`Model`](crate::one_layer::Model).
#[derive(Debug, Clone, PartialEq)]
pub struct Reader {
    /// The layer.
    pub layer: VariantAttention<f32>,
    /// From what comes out to the answers.
    pub readout: Linear<f32>,
}

gradients::entries!([] f32, Reader: layer, readout);

impl Reader {
    /// Random parameters: so many query heads, on so many heads of keys and values, of widths
    /// d_k and d_v.
    ///
    /// # Errors
    /// [`attention::Error`] for heads that cannot be shared out.
    pub fn random(
        task: &Lookups,
        [n_heads, n_kv_heads]: [usize; 2],
        [d_k, d_v]: [usize; 2],
        rng: &mut Rng,
    ) -> Result<Self> {
        let d_model = task.d_model();
        let dims = Dims::with_head_sizes(d_model, n_heads, d_k, d_v)?;
        let sizes = Sizes::new(dims, n_kv_heads)?;
        let layer = VariantAttention::random(sizes, true, Changes::default(), rng)?;
        let readout = Linear::random(d_model, task.n_answers(), true, rng);
        Ok(Self { layer, readout })
    }

    /// The share of right names, target by target.
    ///
    /// # Errors
    /// Examples of another width.
    pub fn scores(&self, examples: &Examples) -> Result<Vec<f64>> {
        let said = self.readout.forward(self.pass(examples)?.out())?;
        Ok(examples.answers.scores(&said))
    }

    /// The asking tokens read the sentences.
    fn pass(&self, examples: &Examples) -> Result<VariantPass<'_, f32>> {
        let Examples { asking, tokens, .. } = examples;
        VariantPass::forward(&self.layer, asking, tokens, &Mask::None)
    }
}

impl Learner for Reader {
    type Examples = Examples;
    /// The score of each target.
    type Look = Vec<f64>;

    fn descend(&mut self, examples: &Examples, adam: &mut Adam<f32>) -> Result<f32> {
        let pass = self.pass(examples)?;
        let loss = examples.answers.loss(&self.readout.forward(pass.out())?)?;
        let d_readout = linear_backward(&self.readout, pass.out(), &loss.gradient)?;
        let d_layer = pass.backward(&d_readout.d_x)?;
        adam.step_entries(self, &(d_layer, d_readout.d_linear))?;
        Ok(loss.value)
    }

    fn look(&self, test: &Examples, _: &[f64], _: usize) -> Result<Vec<f64>> {
        self.scores(test)
    }

    fn score(look: &Vec<f64>) -> f64 {
        mean(look)
    }
}
