//! “Learning”: the tiny task that a layer learns, which is to answer as the two lenses of
//! “A lens per head” do.

pub mod drawn;
pub mod wrong;

use anyhow::Result;
use attention::{
    Batch, Dims, LayerParameters, Mask, Matrix, Rng, SeedableRng, random_matrix,
};
use figures::{Figure, LossCurve, loss_curves};
use fused_heads::FusedAttention;
use gradients::{Adam, LayerPass, Optimiser, Sgd, mean_squared_error};

use crate::a_lens_per_head::two_lenses;
use crate::args::{Args, Entry};

pub(crate) const FIGURES: &[Entry] = &[
    ("loss-curves", curves),
    ("two-slopes", drawn::two_slopes),
    ("cross-entropy", drawn::cross_entropy),
];

/// How many steps both optimisers go.
pub const N_STEPS: usize = 400;
/// The rate of gradient descent.
pub const RATE: f64 = 0.5;
/// The rate of Adam.
pub const ADAM_RATE: f64 = 0.05;
/// The start that is drawn, of [`fresh_layer`].
pub const START: u64 = 3;
/// How many sentences there are to learn from.
pub const N_SENTENCES: usize = 32;

/// Sentences of three random words, and the output that a layer should have for them.
pub struct Task {
    /// `[n_sentences · 3, 4]`.
    pub x: Batch,
    /// The output of the two lenses of “A lens per head”, `[n_sentences · 3, 4]`.
    pub target: Matrix,
}

impl Task {
    /// Other sentences for another seed.
    ///
    /// # Errors
    /// None; the sizes fit.
    pub fn new(seed: u64) -> Result<Self> {
        let rng = &mut Rng::seed_from_u64(seed);
        let x = random_matrix(N_SENTENCES * 3, 4, 1.0, rng);
        let x = Batch::new(N_SENTENCES, x)?;
        let lenses = FusedAttention::new(&two_lenses()?);
        let seen = lenses.forward_batch(&x, &x, &x, &[Mask::None])?;
        Ok(Self { target: seen.out.tokens().clone(), x })
    }

    /// How wrong a layer is.
    ///
    /// # Errors
    /// If the layer has another width than the sentences.
    pub fn loss(&self, layer: &FusedAttention) -> Result<f64> {
        let seen = layer.forward_batch(&self.x, &self.x, &self.x, &[Mask::None])?;
        Ok(mean_squared_error(seen.out.tokens(), &self.target)?.value)
    }
}

/// A layer of two heads with random parameters; others for another seed.
///
/// # Errors
/// None; the sizes fit.
pub fn fresh_layer(seed: u64) -> Result<FusedAttention> {
    let rng = &mut Rng::seed_from_u64(seed);
    Ok(FusedAttention::new(&LayerParameters::random(Dims::new(4, 2)?, true, rng)))
}

/// Trains a layer, and returns the loss before each step.
///
/// # Errors
/// If the layer has another width than the sentences.
// ANCHOR: train
pub fn train(
    layer: &mut FusedAttention,
    task: &Task,
    optimiser: &mut dyn Optimiser,
) -> Result<Vec<f64>> {
    let Task { x, target } = task;
    let mut losses = Vec::new();
    for _ in 0..N_STEPS {
        let pass = LayerPass::forward_batch(layer, x, x, x, &[Mask::None])?;
        let loss = mean_squared_error(pass.out(), target)?;
        let gradients = pass.backward(&loss.gradient)?;
        optimiser.step_layer(layer, &gradients)?;
        losses.push(loss.value);
    }
    Ok(losses)
}
// ANCHOR_END: train

/// The optimisers of the chapter, by name.
pub fn optimisers() -> [(&'static str, Box<dyn Optimiser>); 2] {
    [
        ("gradient descent", Box::new(Sgd { lr: RATE })),
        ("Adam", Box::new(Adam::new(ADAM_RATE))),
    ]
}

fn curves(_: &Args) -> Result<Figure> {
    let task = Task::new(1)?;
    let mut curves = Vec::new();
    for (name, mut optimiser) in optimisers() {
        let losses = train(&mut fresh_layer(START)?, &task, &mut *optimiser)?;
        curves.push(LossCurve { name: name.to_owned(), losses });
    }
    let title = "Two layers with the same start learn to answer as two lenses do";
    Ok(loss_curves(title, &curves)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What other sentences are for: a layer that has learned one sentence by heart is right
    /// there, and wrong on others. One that has learned thirty-two is right on both.
    #[test]
    fn other_sentences_tell_what_is_learned_by_heart() {
        let (task, other) = (Task::new(1).unwrap(), Task::new(2).unwrap());
        let one = Task {
            x: Batch::new(1, task.x.tokens().rows(0, 3).into_owned()).unwrap(),
            target: task.target.rows(0, 3).into_owned(),
        };
        let losses = |learned: &Task, seed: u64| {
            let mut layer = fresh_layer(seed).unwrap();
            train(&mut layer, learned, &mut Adam::new(ADAM_RATE)).unwrap();
            [learned, &other].map(|task| task.loss(&layer).unwrap())
        };
        for seed in 0..3 {
            let [known, others] = losses(&one, seed);
            assert!(known < 0.01 && others > 0.1, "{seed}: {known} {others}");
        }
        let [known, others] = losses(&task, START);
        assert!(known < 0.01 && others < 0.01, "{known} {others}");
    }
}
