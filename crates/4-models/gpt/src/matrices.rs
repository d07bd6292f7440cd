//! A whole name as a matrix, a row a letter, and each head with matrices of its own.
//!
//! What was a loop over letters is a product. That no letter sees those behind it, which came
//! of itself while letters were read one by one, now takes a mask.

use attention::{Linear, Mask, Matrix, Result, RowVector, softmax_rows};
use block::{Activation, Embedding, LayerNorm, layer_norm_backward};
use gradients::{
    LayerGradients, LinearGradients, cross_entropy, linear_backward,
    softmax_rows_backward,
};

use crate::parts::{cut, cut_mut, embedding};
use crate::scalars::{D_K, D_MODEL, N_HEADS};

/// A model in matrices.
struct Model {
    embedding: Embedding,
    norm_1: LayerNorm,
    /// W^Q, W^K and W^V of each head, `[d_model, d_k]`.
    heads: Vec<[Linear; 3]>,
    w_o: Linear,
    norm_2: LayerNorm,
    w_1: Linear,
    w_2: Linear,
    last_norm: LayerNorm,
}

impl Model {
    fn of(parameters: &[f64]) -> Result<Self> {
        let parts = cut(parameters);
        let row = |i: usize| RowVector::from_row_slice(parts[i]);
        let matrix = |i: usize| {
            let columns = parts[i + 1].len(); // as many as its bias has numbers
            Matrix::from_row_slice(parts[i].len() / columns, columns, parts[i])
        };
        let norm = |i| LayerNorm::new(row(i), row(i + 1), 1e-5);
        let linear = |i| Linear::new(matrix(i), Some(row(i + 1)));
        let own = |i, head: usize| {
            let weight = matrix(i).columns(head * D_K, D_K).into_owned();
            Linear::new(weight, Some(row(i + 1).columns(head * D_K, D_K).into_owned()))
        };
        let head = |head| Ok([own(4, head)?, own(6, head)?, own(8, head)?]);
        Ok(Self {
            embedding: embedding(parameters),
            norm_1: norm(2)?,
            heads: (0..N_HEADS).map(head).collect::<Result<_>>()?,
            w_o: linear(10)?,
            norm_2: norm(12)?,
            w_1: linear(14)?,
            w_2: linear(16)?,
            last_norm: norm(18)?,
        })
    }
}

/// The list of gradients, to which each part adds its own.
struct Sum<'a>([&'a mut [f64]; 20]);

impl Sum<'_> {
    /// Adds a matrix to part i, which has as many rows, from this column on.
    fn add(&mut self, i: usize, first_column: usize, d: &Matrix) {
        let n_columns = self.0[i].len() / d.nrows();
        for (sums, row) in self.0[i].chunks_mut(n_columns).zip(d.row_iter()) {
            let sums = sums[first_column..].iter_mut();
            sums.zip(&row).for_each(|(sum, d)| *sum += d);
        }
    }

    /// Adds the gradients of a projection whose weight is part i, and of its bias behind it.
    fn add_linear(&mut self, i: usize, first_column: usize, d: &Linear) {
        self.add(i, first_column, &d.weight);
        if let Some(bias) = &d.bias {
            self.add(i + 1, first_column, &row(bias));
        }
    }

    fn add_norm(&mut self, i: usize, d: &LayerNorm) {
        self.add(i, 0, &row(&d.gain));
        self.add(i + 1, 0, &row(&d.bias));
    }
}

/// A matrix of one row.
fn row(row: &RowVector) -> Matrix {
    Matrix::from_row_slice(1, row.len(), row.as_slice())
}

/// The loss of some names, and the gradient of each parameter.
///
/// # Errors
/// [`attention::Error`] for a name of no letters, or of too many.
pub(crate) fn gradients(
    parameters: &[f64],
    names: &[Vec<usize>],
) -> Result<(f64, Vec<f64>)> {
    let model = Model::of(parameters)?;
    let n_letters: usize = names.iter().map(|name| name.len() - 1).sum();
    let mut gradients = vec![0.0; parameters.len()];
    let sum = &mut Sum(cut_mut(&mut gradients));
    let mut loss = 0.0;
    for name in names {
        let share = (name.len() - 1) as f64 / n_letters as f64;
        loss += share * model.add_gradients(name, share, sum)?;
    }
    Ok((loss, gradients))
}

/// What one head keeps.
struct Head {
    q: Matrix,
    k: Matrix,
    v: Matrix,
    attn: Matrix,
}

impl Head {
    fn forward([w_q, w_k, w_v]: &[Linear; 3], x: &Matrix) -> Result<Self> {
        let (q, k, v) = (w_q.forward(x)?, w_k.forward(x)?, w_v.forward(x)?);
        let scores = &q * k.transpose() / (D_K as f64).sqrt();
        let attn = softmax_rows(Mask::Causal.apply(scores));
        Ok(Self { q, k, v, attn })
    }

    /// The gradients of its queries, keys and values.
    fn backward(&self, d_head: &Matrix) -> Result<[Matrix; 3]> {
        let d_attn = d_head * self.v.transpose();
        let d_scores = softmax_rows_backward(&self.attn, d_attn)? / (D_K as f64).sqrt();
        let d_q = &d_scores * &self.k;
        let d_k = d_scores.transpose() * &self.q;
        Ok([d_q, d_k, self.attn.transpose() * d_head])
    }
}

impl Model {
    /// The mean loss of a name's letters; their gradients, times `share`, are added.
    fn add_gradients(
        &self,
        name: &[usize],
        share: f64,
        sum: &mut Sum<'_>,
    ) -> Result<f64> {
        let (ids, targets) = (&name[..name.len() - 1], &name[1..]);
        let letters = &self.embedding.tokens;
        let x_0 = self.embedding.forward(ids, ids.len())?;
        let normed_1 = self.norm_1.forward(&x_0)?;
        let heads = self.heads.iter().map(|head| Head::forward(head, &normed_1));
        let heads: Vec<Head> = heads.collect::<Result<_>>()?;
        let mut concat = Matrix::zeros(ids.len(), D_MODEL);
        for (i, head) in heads.iter().enumerate() {
            concat.columns_mut(i * D_K, D_K).copy_from(&(&head.attn * &head.v));
        }
        let x_1 = &x_0 + self.w_o.forward(&concat)?;
        let normed_2 = self.norm_2.forward(&x_1)?;
        let hidden = self.w_1.forward(&normed_2)?;
        let activated = Activation::GeluTanh.forward(&hidden);
        let x_2 = &x_1 + self.w_2.forward(&activated)?;
        let out = self.last_norm.forward(&x_2)?;
        let loss = cross_entropy(&(&out * letters.transpose()), targets)?;

        let d_logits = loss.gradient * share;
        sum.add(0, 0, &(d_logits.transpose() * &out));
        let last = layer_norm_backward(&self.last_norm, &x_2, &(d_logits * letters))?;
        sum.add_norm(18, &last.d_layer);
        let LinearGradients { d_linear, d_x } =
            linear_backward(&self.w_2, &activated, &last.d_x)?;
        sum.add_linear(16, 0, &d_linear);
        let d_hidden = Activation::GeluTanh.backward(&hidden, &d_x);
        let LinearGradients { d_linear, d_x } =
            linear_backward(&self.w_1, &normed_2, &d_hidden)?;
        sum.add_linear(14, 0, &d_linear);
        let LayerGradients { d_layer, d_x } =
            layer_norm_backward(&self.norm_2, &x_1, &d_x)?;
        sum.add_norm(12, &d_layer);
        let d_x_1 = last.d_x + d_x;

        let LinearGradients { d_linear, d_x } =
            linear_backward(&self.w_o, &concat, &d_x_1)?;
        sum.add_linear(10, 0, &d_linear);
        let d_normed = self.heads_backward(&heads, &normed_1, &d_x, sum)?;
        let LayerGradients { d_layer, d_x } =
            layer_norm_backward(&self.norm_1, &x_0, &d_normed)?;
        sum.add_norm(2, &d_layer);
        let d_x_0 = d_x_1 + d_x;
        let d_embedding = self.embedding.backward(ids, ids.len(), &d_x_0)?;
        sum.add(0, 0, &d_embedding.tokens);
        if let Some(d_positions) = d_embedding.positions.table() {
            sum.add(1, 0, d_positions);
        }
        Ok(loss.value)
    }

    /// The gradient of what the heads read; those of their projections are added.
    fn heads_backward(
        &self,
        heads: &[Head],
        normed: &Matrix,
        d_concat: &Matrix,
        sum: &mut Sum<'_>,
    ) -> Result<Matrix> {
        let mut d_normed = Matrix::zeros(normed.nrows(), D_MODEL);
        for (i, head) in heads.iter().enumerate() {
            let d_head = head.backward(&d_concat.columns(i * D_K, D_K).into_owned())?;
            for ((d, linear), part) in d_head.iter().zip(&self.heads[i]).zip([4, 6, 8]) {
                let LinearGradients { d_linear, d_x } =
                    linear_backward(linear, normed, d)?;
                sum.add_linear(part, i * D_K, &d_linear);
                d_normed += d_x;
            }
        }
        Ok(d_normed)
    }
}
