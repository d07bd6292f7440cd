//! One head in matrices.

use attention::{
    HeadParameters, Mask, Matrix, Real, Result, check_inputs, softmax_rows,
    weighted_values,
};

use crate::HeadPass;

/// One head, `softmax(Q Kᵀ / √d_k) V`.
///
/// # Shapes
/// `query` is `[n_q, d_model]`, `key` and `value` are `[n_kv, …]` as wide as the head's
/// matrices are high. [`HeadPass`] gives the shapes that come out.
///
/// # Errors
/// Sizes that do not fit, as [`check_inputs`] finds them.
///
/// # Source
/// Vaswani et al. 2017, equation 1.
// ANCHOR: attend
pub fn attend<T: Real>(
    head: &HeadParameters<T>,
    query: &Matrix<T>,
    key: &Matrix<T>,
    value: &Matrix<T>,
    mask: &Mask,
) -> Result<HeadPass<T>> {
    let dims = head.dims()?;
    check_inputs(dims, query, key, value, mask)?;
    let sqrt_d_k = T::of(dims.d_k() as f64).sqrt();

    let q = head.w_q.forward(query)?; // [n_q, d_k]
    let k = head.w_k.forward(key)?; // [n_kv, d_k]
    let v = head.w_v.forward(value)?; // [n_kv, d_v]
    let scores = &q * k.transpose() / sqrt_d_k; // [n_q, n_kv]
    let attn = softmax_rows(mask.apply(scores.clone())); // [n_q, n_kv]
    let out = weighted_values(&attn, v.as_view()); // [n_q, d_v]
    Ok(HeadPass { q, k, v, scores, attn, out })
}
// ANCHOR_END: attend
