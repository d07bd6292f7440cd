//! Forward and backward through a layer whose heads share keys and values, and whose queries
//! and keys are rotated.

use attention::{Batch, Error, Linear, Mask, Matrix, Real, Result};
use gradients::{LinearGradients, attend_backward, linear_backward};

use crate::{Changes, Positions, VariantAttention, attend, attended};

/// One pass of a batch of sequences, with what its backward pass needs.
#[derive(Debug, Clone)]
pub struct VariantPass<'a, T: Real = f64> {
    layer: &'a VariantAttention<T>,
    inputs: [Matrix<T>; 2],
    q: Matrix<T>,
    k: Matrix<T>,
    v: Matrix<T>,
    attn: Vec<Vec<Matrix<T>>>,
    concat: Matrix<T>,
    out: Matrix<T>,
}

/// The gradients of a layer, and of what it read.
#[derive(Debug, Clone, PartialEq)]
pub struct VariantGradients<T: Real = f64> {
    /// Of W^Q, W^K, W^V and W^O.
    pub d_projections: [Linear<T>; 4],
    /// What goes on to the queries' tokens.
    pub d_query: Matrix<T>,
    /// What goes on to the tokens of keys and values.
    pub d_key: Matrix<T>,
}

gradients::entries!([T: Real] T, VariantGradients<T>: d_projections);

impl<'a, T: Real> VariantPass<'a, T> {
    /// The pass: `query` attends to `key`, whose tokens are the values too.
    ///
    /// # Shapes
    /// `[n_sequences · n_q, d_model]` and `[n_sequences · n_kv, d_model]`.
    ///
    /// # Errors
    /// [`Error`]; [`Error::NoBackward`] for a change without a backward pass.
    pub fn forward(
        layer: &'a VariantAttention<T>,
        query: &Batch<T>,
        key: &Batch<T>,
        mask: &Mask,
    ) -> Result<Self> {
        check(layer.changes())?;
        let n = query.n_sequences();
        Error::expect_length("the list of key sequences", n, key.n_sequences())?;
        let (n_q, n_kv) = (query.n_tokens(), key.n_tokens());
        let [w_q, w_k, w_v, w_o] = layer.projections();
        let (changes, d_k) = (layer.changes(), layer.sizes().dims.d_k());
        let at = Positions::new(n_q, n_kv);
        let q = w_q.forward(query.tokens())?;
        let q = changes.prepare_queries(q, d_k, &at.queries.repeat(n))?;
        let k = w_k.forward(key.tokens())?;
        let k = changes.prepare_keys(k, d_k, &at.keys.repeat(n))?;
        let v = w_v.forward(key.tokens())?;
        let width = layer.sizes().dims.concat_width();
        let mut concat = Matrix::zeros(q.nrows(), width);
        let mut attn = Vec::with_capacity(n);
        for s in 0..n {
            let views =
                [q.rows(s * n_q, n_q), k.rows(s * n_kv, n_kv), v.rows(s * n_kv, n_kv)];
            let heads =
                attended(attend(views, layer.sizes().groups, &at, changes, mask)?);
            concat.rows_mut(s * n_q, n_q).copy_from(&heads.out);
            attn.push(heads.attn);
        }
        let out = w_o.forward(&concat)?;
        Ok(Self {
            layer,
            inputs: [query, key].map(|batch| batch.tokens().clone()),
            q,
            k,
            v,
            attn,
            concat,
            out,
        })
    }

    /// What came out, `[n_sequences · n_q, d_model]`.
    pub fn out(&self) -> &Matrix<T> {
        &self.out
    }

    /// `attn()[s][i]` is head i's map of sequence s.
    pub fn attn(&self) -> &[Vec<Matrix<T>>] {
        &self.attn
    }

    /// The gradients of all that this pass took. Keys that several heads read gather from all
    /// of them, and what was rotated is rotated back.
    ///
    /// # Shapes
    /// `d_out` is of the shape of [`out`](Self::out).
    ///
    /// # Errors
    /// [`Error`] if it is not.
    // ANCHOR: backward
    pub fn backward(&self, d_out: &Matrix<T>) -> Result<VariantGradients<T>> {
        let Self { layer, q, k, v, attn, concat, .. } = self;
        let [w_q, w_k, w_v, w_o] = layer.projections();
        let (dims, groups) = (layer.sizes().dims, layer.sizes().groups);
        let (d_k, d_v, n) = (dims.d_k(), dims.d_v(), attn.len());
        let (n_q, n_kv) = (q.nrows() / n, k.nrows() / n);
        let LinearGradients { d_linear: d_w_o, d_x: d_concat } =
            linear_backward(w_o, concat, d_out)?;

        let [mut dq, mut dk, mut dv] =
            [q, k, v].map(|it| Matrix::zeros(it.nrows(), it.ncols()));
        for (s, maps) in attn.iter().enumerate() {
            for (i, attn_i) in maps.iter().enumerate() {
                let g = groups.kv_head(i);
                let q_i = q.view((s * n_q, i * d_k), (n_q, d_k));
                let k_g = k.view((s * n_kv, g * d_k), (n_kv, d_k));
                let v_g = v.view((s * n_kv, g * d_v), (n_kv, d_v));
                let d_head_i = d_concat.view((s * n_q, i * d_v), (n_q, d_v));
                let [dq_i, dk_i, dv_i] =
                    attend_backward(q_i, k_g, v_g, attn_i, d_head_i)?;
                dq.view_mut((s * n_q, i * d_k), (n_q, d_k)).copy_from(&dq_i);
                // Added, and not copied: other heads read these keys and values too.
                let mut dk_g = dk.view_mut((s * n_kv, g * d_k), (n_kv, d_k));
                dk_g += dk_i;
                let mut dv_g = dv.view_mut((s * n_kv, g * d_v), (n_kv, d_v));
                dv_g += dv_i;
            }
        }
        if let Some(rotary) = &layer.changes().rotary {
            let at = Positions::new(n_q, n_kv);
            let back = |places: &[i64]| -> Vec<i64> {
                places.iter().map(|place| -place).collect::<Vec<_>>().repeat(n)
            };
            rotary.rotate(&mut dq, d_k, &back(&at.queries))?;
            rotary.rotate(&mut dk, d_k, &back(&at.keys))?;
        }

        let [query, key] = &self.inputs;
        let of_q = linear_backward(w_q, query, &dq)?;
        let of_k = linear_backward(w_k, key, &dk)?;
        let of_v = linear_backward(w_v, key, &dv)?;
        Ok(VariantGradients {
            d_projections: [of_q.d_linear, of_k.d_linear, of_v.d_linear, d_w_o],
            d_query: of_q.d_x,
            d_key: of_k.d_x + of_v.d_x,
        })
    }
    // ANCHOR_END: backward
}

/// Masks, windows and what ALiBi takes away are constants: nothing goes back through them.
fn check<T: Real>(changes: &Changes<T>) -> Result<()> {
    let Changes { norm, scale, soft_cap, relative, sink, .. } = changes;
    let found = [
        (norm.is_some(), "the norm of queries and keys"),
        (scale.is_some(), "another scale"),
        (soft_cap.is_some(), "the soft cap"),
        (relative.is_some(), "the learned relative positions"),
        (sink.is_some(), "the learned sink"),
    ];
    match found.into_iter().find(|(is_there, _)| *is_there) {
        Some((_, change)) => Err(Error::NoBackward { change }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
