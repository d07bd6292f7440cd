//! The readable stages, in any precision.

use attention::{
    Batch, Dims, Error, Gradients, LayerParameters, Mask, Matrix, MultiHeadAttention,
    Real, Result, View, weighted_values,
};
use fused_heads::FusedAttention;
use gradients::Pass;

use super::{Engine, is_one};
use crate::Piece;

/// `fused-heads` forward, `gradients` backward, and pieces in plain matrices.
#[derive(Debug, Clone)]
pub struct Plain<T: Real = f64> {
    layer: FusedAttention<T>,
}

impl<T: Real> Engine<T> for Plain<T> {
    const KEYS: usize = 256;

    fn new(part: &LayerParameters<T>) -> Self {
        Self { layer: FusedAttention::new(part) }
    }

    fn forward(&mut self, inputs: [&Batch<T>; 3], masks: &[Mask]) -> Result<Matrix<T>> {
        let [query, key, value] = inputs;
        Ok(self.layer.pass_batch(query, key, value, masks)?.out)
    }

    fn backward(
        &mut self,
        inputs: [&Batch<T>; 3],
        masks: &[Mask],
        d_out: &Matrix<T>,
    ) -> Result<Gradients<T>> {
        let [query, key, value] = inputs;
        let pass = match is_one(inputs) {
            true => Pass::self_attend_batch(&self.layer, query, masks)?,
            false => Pass::forward_batch(&self.layer, query, key, value, masks)?,
        };
        pass.backward(d_out)
    }

    fn project(&mut self, x: &Matrix<T>) -> Result<[Matrix<T>; 3]> {
        let p = self.layer.parameters();
        Ok([p.w_q().forward(x)?, p.w_k().forward(x)?, p.w_v().forward(x)?])
    }

    fn piece(
        &mut self,
        q: &Matrix<T>,
        k: View<'_, T>,
        v: View<'_, T>,
        mask: &Mask,
    ) -> Result<Piece<T>> {
        let dims = self.layer.dims();
        let (h, d_k, d_v) = (dims.n_heads(), dims.d_k(), dims.d_v());
        Error::expect_shape("q", (q.nrows(), h * d_k), q.shape())?;
        Error::expect_shape("k", (k.nrows(), h * d_k), k.shape())?;
        Error::expect_shape("v", (k.nrows(), h * d_v), v.shape())?;
        mask.check(h, q.nrows(), k.nrows())?;
        let mut all = Piece::nothing(q.nrows(), h, d_v);
        for i in 0..h {
            let q_i = q.columns(i * d_k, d_k);
            let products = q_i * k.columns(i * d_k, d_k).transpose(); // [n_q, n_kv]
            let scores = products / T::of(d_k as f64).sqrt();
            let masked = mask.of_head(i).apply(scores);
            let (shares, maxima, sums) = shares(masked);
            let out = weighted_values(&shares, v.columns(i * d_v, d_v));
            all.references.set_column(i, &maxima.into());
            all.sums.set_column(i, &sums.into());
            all.out.columns_mut(i * d_v, d_v).copy_from(&out);
        }
        Ok(all)
    }

    fn exp(x: T) -> T {
        x.exp()
    }

    fn mix(&mut self, concat: &Matrix<T>) -> Result<Matrix<T>> {
        self.layer.parameters().w_o().forward(concat)
    }
}

impl<T: Real> Plain<T> {
    /// The sizes of the part.
    pub fn dims(&self) -> Dims {
        self.layer.dims()
    }
}

/// `exp(s − m)` with the largest score m of each row, and the sum of each row: a softmax
/// that is not divided yet.
fn shares<T: Real>(mut scores: Matrix<T>) -> (Matrix<T>, Vec<T>, Vec<T>) {
    let minus_infinity = T::of(f64::NEG_INFINITY);
    let mut maxima = vec![minus_infinity; scores.nrows()];
    for column in scores.column_iter() {
        for (maximum, &score) in maxima.iter_mut().zip(&column) {
            *maximum = if score > *maximum { score } else { *maximum };
        }
    }
    let mut sums = vec![T::zero(); scores.nrows()];
    for mut column in scores.column_iter_mut() {
        for ((score, &maximum), sum) in column.iter_mut().zip(&maxima).zip(&mut sums) {
            // −∞ − (−∞) is NaN, and exp(−∞ − 0) is the 0 that an empty row is made of.
            let shift = if maximum == minus_infinity { T::zero() } else { maximum };
            *score = (*score - shift).exp();
            *sum += *score;
        }
    }
    (scores, maxima, sums)
}
