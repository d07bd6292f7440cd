//! The figures of chapter 8, and the tiny task that its layer learns.

use anyhow::Result;
use attention::{
    Batch, Dims, HeadParameters, LayerParameters, Linear, Mask, Matrix,
    MultiHeadAttention, Rng, SeedableRng, random_matrix,
};
use figures::{BackwardPass, Figure, LossCurve, Returned, backward_pass, loss_curves};
use fused_heads::{FusedAttention, FusedPass};
use gradients::{
    Adam, Loss, Optimiser, Pass, Sgd, linear_backward, mean_squared_error,
    softmax_rows_backward,
};

use super::ch03::by_hand;
use super::{Args, Entry};

pub(super) const FIGURES: [Entry; 2] = [("way-back", back), ("loss-curves", curves)];

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

/// Sentences of three random words, and what a layer should say of them.
pub struct Task {
    /// `[n_sentences · 3, 4]`.
    pub x: Batch,
    /// What the two lenses of chapter 4 say of each word, `[n_sentences · 3, 4]`.
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
        let said = lenses.forward_batch(&x, &x, &x, &[Mask::None])?;
        Ok(Self { target: said.out.tokens().clone(), x })
    }

    /// How wrong a layer is.
    ///
    /// # Errors
    /// If the layer has another width than the sentences.
    pub fn loss(&self, layer: &FusedAttention) -> Result<f64> {
        let said = layer.forward_batch(&self.x, &self.x, &self.x, &[Mask::None])?;
        Ok(mean_squared_error(said.out.tokens(), &self.target)?.value)
    }
}

/// The layer of chapter 4, set by hand.
///
/// # Errors
/// None; the sizes fit.
#[rustfmt::skip]
pub fn two_lenses() -> Result<LayerParameters> {
    let grammar = HeadParameters {
        w_q: by_hand([0.0, 0.0,  0.0, 0.0,  0.0, 2.0,  2.0, 0.0])?,
        w_k: by_hand([0.0, 0.0,  0.0, 0.0,  1.0, 0.0,  0.0, 1.0])?,
        w_v: by_hand([0.0, 0.0,  0.0, 0.0,  1.0, 0.0,  0.0, 1.0])?,
    };
    let water = HeadParameters {
        w_q: by_hand([2.0, 0.0,  0.0, 0.0,  0.0, 0.0,  0.0, 0.0])?,
        w_k: by_hand([1.0, 0.0,  0.0, 1.0,  0.0, 0.0,  0.0, 0.0])?,
        w_v: by_hand([1.0, 0.0,  0.0, 1.0,  0.0, 0.0,  0.0, 0.0])?,
    };
    let w_o = Matrix::from_row_slice(4, 4, &[
        0.0, 1.0, 0.0, 0.0,
        1.0, 0.0, 0.0, 0.0,
        1.0, 0.0, 1.0, 0.0,
        0.0, 0.0, 0.0, 1.0,
    ]);
    Ok(LayerParameters::new(vec![grammar, water], Linear::new(w_o, None)?)?)
}

/// A layer of two heads that knows nothing yet; other numbers for another seed.
///
/// # Errors
/// None; the sizes fit.
pub fn fresh_layer(seed: u64) -> Result<FusedAttention> {
    let rng = &mut Rng::seed_from_u64(seed);
    Ok(FusedAttention::new(&LayerParameters::random(Dims::new(4, 2)?, true, rng)))
}

/// Trains a layer, and gives the loss before each step.
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
        let pass = Pass::forward_batch(layer, x, x, x, &[Mask::None])?;
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
    let title = "Two layers start from the same numbers and learn what two lenses say";
    Ok(loss_curves(title, &curves)?)
}

/// The trained layer reads "The bank approved the loan." causally and is asked for what
/// it says when it looks both ways.
fn back(_: &Args) -> Result<Figure> {
    let trained = pretrained::minilm()?;
    let sentence = trained.sentence("bank_loan")?;
    let layer = FusedAttention::new(&trained.parameters);
    let x = &sentence.input;
    let pass = Pass::forward(&layer, x, x, x, &Mask::Causal)?;
    let loss = mean_squared_error(pass.out(), &sentence.output)?;
    let norms = norms(&layer, &pass, &loss)?;
    let title = "Of what comes back to the tokens, most has come by way of the values";
    Ok(backward_pass(title, &norms)?)
}

/// The backward pass once more, from its public pieces, for the matrices on the way.
fn norms(layer: &FusedAttention, pass: &Pass, loss: &Loss) -> Result<BackwardPass> {
    let (dims, p) = (layer.dims(), layer.parameters());
    let FusedPass { q, k, v, .. } = pass.fused();
    let (n, d_k, d_v) = (q.nrows(), dims.d_k(), dims.d_v());
    let of_out = linear_backward(p.w_o(), pass.concat(), &loss.gradient)?;
    let [mut dq, mut dk, mut dv] = [q, k, v].map(|m| Matrix::zeros(n, m.ncols()));
    let (mut of_attn, mut of_scores) = (0.0, 0.0);
    for (i, attn) in pass.attn()[0].iter().enumerate() {
        let d_head = of_out.d_x.columns(i * d_v, d_v);
        dv.columns_mut(i * d_v, d_v).copy_from(&(attn.transpose() * d_head));
        let d_attn = d_head * v.columns(i * d_v, d_v).transpose();
        of_attn += d_attn.norm_squared();
        let d_scores = softmax_rows_backward(attn, d_attn)?;
        of_scores += d_scores.norm_squared();
        let d_products = d_scores / (d_k as f64).sqrt();
        let dq_i = &d_products * k.columns(i * d_k, d_k);
        let dk_i = d_products.transpose() * q.columns(i * d_k, d_k);
        dq.columns_mut(i * d_k, d_k).copy_from(&dq_i);
        dk.columns_mut(i * d_k, d_k).copy_from(&dk_i);
    }
    let d = pass.backward(&loss.gradient)?;
    let returned = |m: &Matrix| Returned { shape: m.shape(), norm: m.norm() };
    let maps = |norm_squared: f64| Returned { shape: (n, n), norm: norm_squared.sqrt() };
    Ok(BackwardPass {
        n_heads: dims.n_heads(),
        x: returned(&d.d_x()?),
        to_x: d.d_query_key_value()?.map(|d| d.norm()),
        w: [&d.d_w_q, &d.d_w_k, &d.d_w_v].map(|linear| returned(&linear.weight)),
        qkv: [returned(&dq), returned(&dk), returned(&dv)],
        scores: maps(of_scores),
        attn: maps(of_attn),
        concat: returned(&of_out.d_x),
        w_o: returned(&d.d_w_o.weight),
        out: returned(&loss.gradient),
    })
}
