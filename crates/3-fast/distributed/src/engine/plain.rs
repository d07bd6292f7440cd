//! The readable stages, in any precision.

use attention::nalgebra::DMatrixView;
use attention::{
    Batch, Error, Gradients, LayerParameters, Mask, Matrix, MultiHeadAttention,
    Positions, Real, Result, View, weighted_values,
};
use fused_heads::FusedAttention;
use gradients::LayerPass;

use super::{Engine, ViewMut, is_one};
use crate::Piece;
use crate::masks::{self, VisibleKeys};

/// `fused-heads` forward, `gradients` backward, and pieces in plain matrices.
#[derive(Debug, Clone)]
pub struct Plain<T: Real = f64> {
    layer: FusedAttention<T>,
}

/// Queries, and what they have seen.
#[derive(Debug, Clone)]
pub struct Queries<T: Real> {
    n_sequences: usize,
    q: Matrix<T>,
    seen: Piece<T>,
}

impl<T: Real> Engine<T> for Plain<T> {
    type Queries = Queries<T>;

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
            true => LayerPass::self_attend_batch(&self.layer, query, masks)?,
            false => LayerPass::forward_batch(&self.layer, query, key, value, masks)?,
        };
        pass.backward(d_out)
    }

    fn project(&mut self, x: &Matrix<T>, _: Vec<T>) -> Result<Matrix<T>> {
        let p = self.layer.parameters();
        let each = [p.w_q().forward(x)?, p.w_k().forward(x)?, p.w_v().forward(x)?];
        let columns: Vec<_> = each.iter().flat_map(Matrix::column_iter).collect();
        Ok(Matrix::from_columns(&columns))
    }

    fn keys(&self, sequences: &[[View<'_, T>; 2]], mut all: Vec<T>) -> Result<Vec<T>> {
        let [k_width, v_width] = self.widths();
        all.clear();
        for [k, v] in sequences {
            Error::expect_shape("k", (k.nrows(), k_width), k.shape())?;
            Error::expect_shape("v", (k.nrows(), v_width), v.shape())?;
            all.extend(k.iter().chain(v).copied());
        }
        Ok(all)
    }

    fn keys_len(&self, n_tokens: usize) -> usize {
        n_tokens * self.widths().iter().sum::<usize>()
    }

    fn queries(
        &self,
        n_sequences: usize,
        q: View<'_, T>,
        _: Option<Queries<T>>,
    ) -> Result<Queries<T>> {
        let (dims, n_rows) = (self.layer.dims(), q.nrows());
        Error::expect_shape("q", (n_rows, dims.n_heads() * dims.d_k()), q.shape())?;
        let seen = Piece::nothing(n_rows, dims.n_heads(), dims.d_v());
        Ok(Queries { n_sequences, q: q.into_owned(), seen })
    }

    fn see(
        &mut self,
        queries: &mut Queries<T>,
        keys: &[T],
        masks: &[Mask],
        positions: &Positions,
    ) -> Result<()> {
        let Queries { n_sequences, q, seen } = queries;
        let n_q = q.nrows() / (*n_sequences).max(1);
        Error::expect_length("the list of queries", positions.queries.len(), n_q)?;
        let (n_kv, [k_width, v_width]) = (positions.keys.len(), self.widths());
        Error::expect_length("the keys", self.keys_len(*n_sequences * n_kv), keys.len())?;
        let of_each = keys.chunks_exact((n_kv * (k_width + v_width)).max(1));
        for (s, keys) in of_each.enumerate() {
            let mask = &masks[s % masks.len()];
            let Some(VisibleKeys { queries: open, mask }) =
                masks::seen(mask, positions.queries.clone(), positions.keys.clone())
            else {
                continue;
            };
            let (k, v) = keys.split_at(n_kv * k_width);
            let k = DMatrixView::from_slice(k, n_kv, k_width);
            let v = DMatrixView::from_slice(v, n_kv, v_width);
            let first = s * n_q + open.start - positions.queries.start;
            let piece = self.piece(q.rows(first, open.len()), k, v, &mask);
            seen.merge(first, &piece);
        }
        Ok(())
    }

    fn outputs(queries: &Queries<T>, mut to: ViewMut<'_, T>) {
        to.copy_from(&queries.seen.clone().finish());
    }

    fn mix(&mut self, concat: &Matrix<T>) -> Result<Matrix<T>> {
        self.layer.parameters().w_o().forward(concat)
    }
}

impl<T: Real> Plain<T> {
    /// How wide the keys and the values of all heads are together.
    fn widths(&self) -> [usize; 2] {
        let dims = self.layer.dims();
        [dims.d_k(), dims.d_v()].map(|width| dims.n_heads() * width)
    }

    /// The attention of some queries to some keys, by themselves.
    fn piece(
        &self,
        q: View<'_, T>,
        k: View<'_, T>,
        v: View<'_, T>,
        mask: &Mask,
    ) -> Piece<T> {
        let dims = self.layer.dims();
        let (h, d_k, d_v) = (dims.n_heads(), dims.d_k(), dims.d_v());
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
        all
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
