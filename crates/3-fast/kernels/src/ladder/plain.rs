//! The layer as it is read: three projections, a map of n × n shares a head, W^O.
//!
//! **What it buys:** nothing; the other rungs are measured against it.
//!
//! **Where it is slow:** the exponentials are computed number by number, each map is
//! written to memory and read again several times, and one thread works.

use attention::{
    Dims, LayerParameters, Mask, Matrix, PackedParameters, Result, View, softmax_rows,
    weighted_values,
};

use crate::{Inputs, Rung};

/// The layer as it is read.
#[derive(Debug, Clone)]
pub struct Plain {
    w: PackedParameters<f32>,
}

impl Plain {
    /// The layer with these parameters.
    pub fn new(parameters: &LayerParameters<f32>) -> Self {
        Self { w: parameters.pack() }
    }
}

impl Rung for Plain {
    fn name(&self) -> &'static str {
        "plain"
    }

    fn dims(&self) -> Dims {
        self.w.dims()
    }

    fn forward(&mut self, inputs: &Inputs<'_>, out: &mut Matrix<f32>) -> Result<()> {
        let lengths = inputs.check(self.dims(), out)?;
        let q = self.w.w_q().forward(inputs.query)?; // [n_sequences · n_q, h · d_k]
        let k = self.w.w_k().forward(inputs.key)?; // [n_sequences · n_kv, h · d_k]
        let v = self.w.w_v().forward(inputs.value)?; // [n_sequences · n_kv, h · d_v]

        let (n_q, n_kv) = (lengths.n_q, lengths.n_kv);
        let (d_k, d_v) = (self.w.dims().d_k(), self.w.dims().d_v());
        let mut concat = Matrix::zeros(q.nrows(), v.ncols());
        for s in 0..lengths.n_sequences {
            for i in 0..self.w.dims().n_heads() {
                let q_i = q.view((s * n_q, i * d_k), (n_q, d_k));
                let k_i = k.view((s * n_kv, i * d_k), (n_kv, d_k));
                let v_i = v.view((s * n_kv, i * d_v), (n_kv, d_v));
                let head_i = attend(q_i, k_i, v_i, &inputs.mask(s).of_head(i));
                concat.view_mut((s * n_q, i * d_v), (n_q, d_v)).copy_from(&head_i);
            }
        }
        out.copy_from(&self.w.w_o().forward(&concat)?);
        Ok(())
    }
}

/// `softmax(q kᵀ / √d_k) v`, `[n_q, d_v]`.
pub(super) fn attend(
    q: View<'_, f32>,
    k: View<'_, f32>,
    v: View<'_, f32>,
    mask: &Mask,
) -> Matrix<f32> {
    let scores = q * k.transpose() / (q.ncols() as f32).sqrt(); // [n_q, n_kv]
    weighted_values(&softmax_rows(mask.apply(scores)), v)
}
