//! Attention that reads keys and values without ever computing them.
//!
//! For each token, a cache keeps one **latent** row of r numbers, c_j, from which every
//! head's keys and values are made: k_ij = c_j · U_i and v_ij = c_j · V_i. The columns of
//! `w_uk` are the blocks U_i of all heads side by side, d_k columns each, and those of
//! `w_uv` are the blocks V_i, d_v columns each.
//!
//! The score of a key is q_i · k_ij / √d_k. Group that product differently: let each
//! query absorb U_i once, and then multiply it by the latent rows themselves. Likewise,
//! average the latent rows and multiply the average by V_i. Return both: the absorbed
//! queries of all heads side by side, **not yet divided** by √d_k, and the outputs of all
//! heads side by side. Every query may see every token.
//!
//! What must be true of the answer:
//! - the outputs are those of a layer that computes all keys and values;
//! - an absorbed query is r wide, like a latent row, whatever d_k is.
//!
//! You may use `softmax_rows`.

use std::process::ExitCode;

use exercises::latent_keys::{self, Absorbed};
use exercises::{Matrix, softmax_rows};

/// Each head's `q_i U_iᵀ`, and its output.
///
/// # Shapes
/// `q` is `[n_q, n_heads · d_k]`, `latents` is `[n_kv, r]`, `w_uk` is
/// `[r, n_heads · d_k]`, and `w_uv` is `[r, n_heads · d_v]`; in the result, `queries` is
/// `[n_q, n_heads · r]` and `out` is `[n_q, n_heads · d_v]`.
// ANCHOR: answer
pub fn attend_latent(
    q: &Matrix,
    latents: &Matrix,
    w_uk: &Matrix,
    w_uv: &Matrix,
    n_heads: usize,
) -> Absorbed {
    // YOURS: the latents are read twice, and neither time become keys or values.
    let (n_q, r) = (q.nrows(), latents.ncols());
    let (d_k, d_v) = (q.ncols() / n_heads, w_uv.ncols() / n_heads);
    let mut queries = Matrix::zeros(n_q, n_heads * r);
    let mut out = Matrix::zeros(n_q, n_heads * d_v);
    for i in 0..n_heads {
        let u_i = w_uk.columns(i * d_k, d_k);
        let absorbed = q.columns(i * d_k, d_k) * u_i.transpose(); // [n_q, r]
        let scores = &absorbed * latents.transpose() / (d_k as f64).sqrt(); // [n_q, n_kv]
        let average = softmax_rows(scores) * latents; // [n_q, r]
        let read = average * w_uv.columns(i * d_v, d_v); // [n_q, d_v]
        queries.columns_mut(i * r, r).copy_from(&absorbed);
        out.columns_mut(i * d_v, d_v).copy_from(&read);
    }
    Absorbed { queries, out }
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    latent_keys::check(attend_latent)
}
