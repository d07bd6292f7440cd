//! The layer: one wide projection each, heads as views.

use attention::{
    Attended, Batch, BatchAttended, Dims, LayerParameters, Mask, Matrix,
    MultiHeadAttention, PackedParameters, ParameterCount, Real, Result,
};

/// Multi-head attention with one projection for all heads.
///
/// ```
/// use attention::{Dims, LayerParameters, Mask, MultiHeadAttention, Rng, SeedableRng};
/// use fused_heads::FusedAttention;
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let parameters = LayerParameters::random(Dims::new(256, 8)?, true, rng);
/// let layer: FusedAttention = FusedAttention::new(&parameters);
/// let x = attention::random_matrix(30, 256, 1.0, rng);
/// let attended = layer.self_attend(&x, &Mask::Causal)?;
/// assert_eq!(attended.out.shape(), (30, 256));
/// assert_eq!(attended.attn.len(), 8); // one map a head
/// assert_eq!(attended.attn[0][(0, 0)], 1.0); // the first token sees itself alone
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FusedAttention<T: Real = f64> {
    parameters: PackedParameters<T>,
}

impl<T: Real> FusedAttention<T> {
    /// The layer with these parameters, packed.
    pub fn new(parameters: &LayerParameters<T>) -> Self {
        Self::from_packed(parameters.pack())
    }

    /// The layer with parameters that are packed already.
    pub fn from_packed(parameters: PackedParameters<T>) -> Self {
        Self { parameters }
    }

    /// The packed parameters.
    pub fn parameters(&self) -> &PackedParameters<T> {
        &self.parameters
    }

    /// The packed parameters, to be changed in place: what a training does.
    pub fn parameters_mut(&mut self) -> &mut PackedParameters<T> {
        &mut self.parameters
    }

    /// A batch of sequences of equal length in one call, with one product a projection.
    ///
    /// # Shapes
    /// `query` is `[n_sequences · n_q, d_model]`, `key` and `value` are
    /// `[n_sequences · n_kv, …]`; `masks` has one mask for all sequences, or one a
    /// sequence (each for `[n_q, n_kv]`).
    ///
    /// # Errors
    /// What [`check_batch`](attention::check_batch) finds.
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
        let pass = self.pass_batch(query, key, value, masks)?;
        Ok(BatchAttended {
            out: Batch::new(query.n_sequences(), pass.out)?,
            attn: pass.attn,
        })
    }
    // ANCHOR_END: forward_batch
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
        let mut pass = self.pass(query, key, value, mask)?;
        Ok(Attended { out: pass.out, attn: pass.attn.swap_remove(0) })
    }
}
