//! Taking heads away, to see who needs them.

use attention::{
    Dims, HeadParameters, LayerParameters, Mask, Matrix, Rng, random_matrix,
};
use fused_heads::FusedAttention;
use gradients::Pass;

use crate::{Error, Examples, Model, Result};

/// The scores of a model, whole and with each head removed in turn; and the same for a
/// head that has learned nothing.
///
/// The second is the control. If removing any head did harm, the first would say nothing
/// about what a head does.
#[derive(Debug, Clone, PartialEq)]
pub struct Ablation {
    /// The score of each target with all heads.
    pub whole: Vec<f64>,
    /// The scores without head i, `[n_heads, n_targets]`.
    pub without: Matrix,
    /// The same for the control.
    pub control: Control,
}

/// A model to which a head of random weights was added, and its scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Control {
    /// The score of each target with the trained heads and the random one.
    pub whole: Vec<f64>,
    /// The scores after the random head was removed again.
    pub without: Vec<f64>,
}

impl Ablation {
    /// Removes each head in turn, and the control.
    ///
    /// # Errors
    /// [`Error::Sizes`] if the examples do not fit the model.
    pub fn of(model: &Model, examples: &Examples, rng: &mut Rng) -> Result<Self> {
        let whole = model.scores(examples)?;
        let mut without = Matrix::zeros(model.n_heads(), whole.len());
        for head in 0..model.n_heads() {
            let scores = model.without(head)?.scores(examples)?;
            without.row_mut(head).copy_from_slice(&scores);
        }
        let with_random = model.with_random_head(examples, rng)?;
        let control = Control {
            whole: with_random.scores(examples)?,
            without: with_random.without(model.n_heads())?.scores(examples)?,
        };
        Ok(Self { whole, without, control })
    }

    /// What each target loses with each head, `[n_heads, n_targets]`; below 0 where it
    /// is better off.
    pub fn losses(&self) -> Matrix {
        let (n_heads, n_targets) = self.without.shape();
        Matrix::from_fn(n_heads, n_targets, |i, r| self.whole[r] - self.without[(i, r)])
    }

    /// What each target loses with the random head.
    pub fn control_losses(&self) -> Vec<f64> {
        let pairs = self.control.whole.iter().zip(&self.control.without);
        pairs.map(|(whole, without)| whole - without).collect()
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
    /// The same model with one head removed: its rows of W^O are zero, so whatever the
    /// head finds, nothing downstream can read it.
    ///
    /// # Errors
    /// [`Error::NoSuchHead`].
    // ANCHOR: without
    pub fn without(&self, head: usize) -> Result<Self> {
        let n_heads = self.n_heads();
        if head >= n_heads {
            return Err(Error::NoSuchHead { head, n_heads });
        }
        let parameters = self.layer.parameters().unpack();
        let d_v = parameters.dims().d_v();
        let mut w_o = parameters.w_o().clone();
        w_o.weight.rows_mut(head * d_v, d_v).fill(0.0);
        let parameters = LayerParameters::new(parameters.heads().to_vec(), w_o)?;
        let (layer, readout) = (FusedAttention::new(&parameters), self.readout.clone());
        Ok(Self { layer, readout })
    }
    // ANCHOR_END: without

    /// The same model with one more head, of random weights, which has learned nothing.
    ///
    /// It is as loud as the others: its rows of W^O are scaled until what it adds to the
    /// output is as long, on average over the examples, as what a trained head adds.
    ///
    /// # Errors
    /// [`Error::Sizes`] if the examples do not fit the model.
    pub fn with_random_head(&self, examples: &Examples, rng: &mut Rng) -> Result<Self> {
        let old = self.layer.parameters().unpack();
        let (d_model, d_k, d_v) =
            (old.dims().d_model(), old.dims().d_k(), old.dims().d_v());
        let n_heads = self.n_heads();
        let dims = Dims::with_head_sizes(d_model, n_heads + 1, d_k, d_v)?;
        let mut heads = old.heads().to_vec();
        heads.push(HeadParameters::random(dims, true, rng));
        let mut w_o = old.w_o().clone();
        w_o.weight = w_o.weight.insert_rows(n_heads * d_v, d_v, 0.0);
        let added = random_matrix(d_v, d_model, 1.0 / (d_model as f64).sqrt(), rng);
        w_o.weight.rows_mut(n_heads * d_v, d_v).copy_from(&added);

        let louder = |w_o: &attention::Linear<f32>| -> Result<Self> {
            let parameters = LayerParameters::new(heads.clone(), w_o.clone())?;
            let layer = FusedAttention::new(&parameters);
            Ok(Self { layer, readout: self.readout.clone() })
        };
        let lengths = louder(&w_o)?.contributions(examples)?;
        let (trained, random) = (&lengths[..n_heads], lengths[n_heads]);
        let scale = trained.iter().sum::<f32>() / n_heads as f32 / random;
        w_o.weight.rows_mut(n_heads * d_v, d_v).scale_mut(scale);
        louder(&w_o)
    }

    /// How long what each head adds to the output is, on average.
    pub(crate) fn contributions(&self, examples: &Examples) -> Result<Vec<f32>> {
        let Examples { asking, tokens, .. } = examples;
        let pass =
            Pass::forward_batch(&self.layer, asking, tokens, tokens, &[Mask::None])?;
        let p = self.layer.parameters();
        let d_v = p.dims().d_v();
        let length = |i: usize| {
            let head_i = pass.concat().columns(i * d_v, d_v); // [n, d_v]
            let added = head_i * p.w_o().weight.rows(i * d_v, d_v); // [n, d_model]
            added.row_iter().map(|row| row.norm()).sum::<f32>() / added.nrows() as f32
        };
        Ok((0..self.n_heads()).map(length).collect())
    }
}
