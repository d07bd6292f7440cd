//! Everything that one pass through the layer computes on the way.

use attention::{
    Batch, Mask, Matrix, MultiHeadAttention, Real, Result, attend_head, check_batch,
    check_inputs,
};

use crate::FusedAttention;

/// One pass through the fused layer, with every intermediate matrix.
///
/// The maps, the shapes ([`FusedAttention::trace`](crate::FusedAttention::trace)) and the
/// backward pass (`gradients`) are read off it.
///
/// ```
/// use attention::{Dims, LayerParameters, Mask, Rng, SeedableRng, random_matrix, softmax_rows};
/// use fused_heads::FusedAttention;
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let parameters = LayerParameters::random(Dims::with_head_sizes(8, 2, 3, 5)?, true, rng);
/// let layer: FusedAttention = FusedAttention::new(&parameters);
/// let [x, source] = [4, 6].map(|n_tokens| random_matrix(n_tokens, 8, 1.0, rng));
/// let pass = layer.pass(&x, &source, &source, &Mask::None)?;
/// assert_eq!((pass.q.shape(), pass.k.shape()), ((4, 2 * 3), (6, 2 * 3)));
/// assert_eq!((pass.v.shape(), pass.scores[0][0].shape()), ((6, 2 * 5), (4, 6)));
/// assert_eq!(pass.attn[0][1], softmax_rows(pass.scores[0][1].clone())); // without a mask
/// assert_eq!((pass.concat.shape(), pass.out.shape()), ((4, 2 * 5), (4, 8)));
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FusedPass<T: Real = f64> {
    /// The queries of all heads, `[n_sequences · n_q, h · d_k]`.
    pub q: Matrix<T>,
    /// The keys of all heads, `[n_sequences · n_kv, h · d_k]`.
    pub k: Matrix<T>,
    /// The values of all heads, `[n_sequences · n_kv, h · d_v]`.
    pub v: Matrix<T>,
    /// `scores[s][i]` is `Q_i K_iᵀ / √d_k` of sequence s, before the mask, `[n_q, n_kv]`.
    pub scores: Vec<Vec<Matrix<T>>>,
    /// `attn[s][i]` is head i's map of sequence s, `[n_q, n_kv]`.
    pub attn: Vec<Vec<Matrix<T>>>,
    /// The heads' outputs side by side, `[n_sequences · n_q, h · d_v]`.
    pub concat: Matrix<T>,
    /// The output, `[n_sequences · n_q, d_model]`.
    pub out: Matrix<T>,
}

impl<T: Real> FusedPass<T> {
    /// The number of sequences.
    pub fn n_sequences(&self) -> usize {
        self.attn.len()
    }
}

impl<T: Real> FusedAttention<T> {
    /// A batch, with every matrix that is computed on the way.
    ///
    /// # Shapes
    /// As [`forward_batch`](Self::forward_batch); [`FusedPass`] gives those that come out.
    ///
    /// # Errors
    /// What [`check_batch`] finds.
    pub fn pass_batch(
        &self,
        query: &Batch<T>,
        key: &Batch<T>,
        value: &Batch<T>,
        masks: &[Mask],
    ) -> Result<FusedPass<T>> {
        check_batch(self.dims(), query, key, value, masks)?;
        let n_sequences = query.n_sequences();
        self.attend_all(n_sequences, query.tokens(), key.tokens(), value.tokens(), masks)
    }

    /// One sequence, with every matrix that is computed on the way.
    ///
    /// # Shapes
    /// As [`MultiHeadAttention::forward`]; [`FusedPass`] gives those that come out.
    ///
    /// # Errors
    /// What [`check_inputs`] finds.
    pub fn pass(
        &self,
        query: &Matrix<T>,
        key: &Matrix<T>,
        value: &Matrix<T>,
        mask: &Mask,
    ) -> Result<FusedPass<T>> {
        check_inputs(self.dims(), query, key, value, mask)?;
        self.attend_all(1, query, key, value, std::slice::from_ref(mask))
    }

    /// The layer itself, for stacked sequences.
    // ANCHOR: attend_all
    fn attend_all(
        &self,
        n_sequences: usize,
        query: &Matrix<T>,
        key: &Matrix<T>,
        value: &Matrix<T>,
        masks: &[Mask],
    ) -> Result<FusedPass<T>> {
        let (p, dims) = (self.parameters(), self.dims());
        let (n_q, n_kv) = (query.nrows() / n_sequences, key.nrows() / n_sequences);
        let (n_heads, d_k, d_v) = (dims.n_heads(), dims.d_k(), dims.d_v());

        let q = p.w_q().forward(query)?; // [n_sequences · n_q, h · d_k]
        let k = p.w_k().forward(key)?; // [n_sequences · n_kv, h · d_k]
        let v = p.w_v().forward(value)?; // [n_sequences · n_kv, h · d_v]

        let mut concat = Matrix::zeros(n_sequences * n_q, n_heads * d_v);
        let mut scores = vec![Vec::new(); n_sequences];
        let mut attn = vec![Vec::new(); n_sequences];
        for s in 0..n_sequences {
            let mask = &masks[s % masks.len()];
            for i in 0..n_heads {
                let q_i = q.view((s * n_q, i * d_k), (n_q, d_k));
                let k_i = k.view((s * n_kv, i * d_k), (n_kv, d_k));
                let v_i = v.view((s * n_kv, i * d_v), (n_kv, d_v));
                let head_i = attend_head(q_i, k_i, v_i, None, &mask.of_head(i))?;
                concat.view_mut((s * n_q, i * d_v), (n_q, d_v)).copy_from(&head_i.out);
                scores[s].push(head_i.scores);
                attn[s].push(head_i.attn);
            }
        }
        let out = p.w_o().forward(&concat)?; // [n_sequences · n_q, d_model]
        Ok(FusedPass { q, k, v, scores, attn, concat, out })
    }
    // ANCHOR_END: attend_all
}
