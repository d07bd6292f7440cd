//! The layer: one wide projection each, heads as views.

use attention::{
    Attended, Batch, BatchAttended, Dims, LayerParameters, Mask, Matrix,
    MultiHeadAttention, ParameterCount, Real, Result, View, check_batch, check_inputs,
    softmax_rows, weighted_values,
};

use crate::{FusedParameters, pack};

/// Multi-head attention with one projection for all heads.
#[derive(Debug, Clone, PartialEq)]
pub struct FusedAttention<T: Real = f64> {
    parameters: FusedParameters<T>,
}

impl<T: Real> FusedAttention<T> {
    /// The layer with these parameters, packed.
    pub fn new(parameters: &LayerParameters<T>) -> Self {
        Self { parameters: pack(parameters) }
    }

    /// The packed parameters.
    pub fn parameters(&self) -> &FusedParameters<T> {
        &self.parameters
    }

    /// A batch of sequences of equal length in one call, with one product a projection.
    ///
    /// # Shapes
    /// `query` is `[n_sequences · n_q, d_model]`, `key` and `value` are
    /// `[n_sequences · n_kv, …]`; `masks` has one mask for all sequences, or one a
    /// sequence (each for `[n_q, n_kv]`).
    ///
    /// # Errors
    /// [`Error::BatchLength`](attention::Error::BatchLength) if query, key, value or masks differ in number; what
    /// [`check_inputs`] finds.
    ///
    /// # Source
    /// Source 004, a batched and masked module. Differs: a blocked score is −∞ and not
    /// −1e9, and no transpose is needed, since columns are contiguous here.
    // ANCHOR: forward_batch
    pub fn forward_batch(
        &self,
        query: &Batch<T>,
        key: &Batch<T>,
        value: &Batch<T>,
        masks: &[Mask],
    ) -> Result<BatchAttended<T>> {
        check_batch(self.dims(), query, key, value, masks)?;
        let n_sequences = query.n_sequences();
        let [query, key, value] = [query.tokens(), key.tokens(), value.tokens()];
        self.attend_all(n_sequences, query, key, value, masks)
    }
    // ANCHOR_END: forward_batch

    /// The layer itself, for sequences that lie one below the other.
    // ANCHOR: attend_all
    fn attend_all(
        &self,
        n_sequences: usize,
        query: &Matrix<T>,
        key: &Matrix<T>,
        value: &Matrix<T>,
        masks: &[Mask],
    ) -> Result<BatchAttended<T>> {
        let FusedParameters { dims, w_q, w_k, w_v, w_o } = &self.parameters;
        let (n_q, n_kv) = (query.nrows() / n_sequences, key.nrows() / n_sequences);
        let (n_heads, d_k, d_v) = (dims.n_heads(), dims.d_k(), dims.d_v());

        let q = w_q.forward(query)?; // [n_sequences · n_q, h · d_k]
        let k = w_k.forward(key)?; // [n_sequences · n_kv, h · d_k]
        let v = w_v.forward(value)?; // [n_sequences · n_kv, h · d_v]

        let mut concat = Matrix::zeros(n_sequences * n_q, n_heads * d_v);
        let mut attn = vec![Vec::with_capacity(n_heads); n_sequences];
        for s in 0..n_sequences {
            let mask = &masks[s % masks.len()];
            for i in 0..n_heads {
                let q_i = q.view((s * n_q, i * d_k), (n_q, d_k));
                let k_i = k.view((s * n_kv, i * d_k), (n_kv, d_k));
                let v_i = v.view((s * n_kv, i * d_v), (n_kv, d_v));
                let (head_i, attn_i) = attend(q_i, k_i, v_i, &mask.of_head(i));
                concat.view_mut((s * n_q, i * d_v), (n_q, d_v)).copy_from(&head_i);
                attn[s].push(attn_i);
            }
        }
        Ok(BatchAttended { out: Batch::new(n_sequences, w_o.forward(&concat)?)?, attn })
    }
    // ANCHOR_END: attend_all
}

impl<T: Real> MultiHeadAttention<T> for FusedAttention<T> {
    fn name(&self) -> &'static str {
        "fused"
    }

    fn dims(&self) -> Dims {
        self.parameters.dims()
    }

    fn parameter_count(&self) -> ParameterCount {
        self.parameters.count()
    }

    /// One sequence is a batch of one.
    fn forward(
        &self,
        query: &Matrix<T>,
        key: &Matrix<T>,
        value: &Matrix<T>,
        mask: &Mask,
    ) -> Result<Attended<T>> {
        check_inputs(self.dims(), query, key, value, mask)?;
        let masks = std::slice::from_ref(mask);
        let batch = self.attend_all(1, query, key, value, masks)?;
        Ok(batch.into_sequences().swap_remove(0))
    }
}

/// One head on its views of Q, K and V: its output and its map.
// ANCHOR: attend
pub(crate) fn attend<T: Real>(
    q_i: View<'_, T>,
    k_i: View<'_, T>,
    v_i: View<'_, T>,
    mask: &Mask,
) -> (Matrix<T>, Matrix<T>) {
    let sqrt_d_k = T::of(q_i.ncols() as f64).sqrt();
    let scores = q_i * k_i.transpose() / sqrt_d_k; // [n_q, n_kv]
    let attn = softmax_rows(mask.apply(scores)); // [n_q, n_kv]
    let head = weighted_values(&attn, v_i); // [n_q, d_v]
    (head, attn)
}
// ANCHOR_END: attend
