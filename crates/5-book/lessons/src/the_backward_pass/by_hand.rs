//! The row of *overflowed* of “One head”, backwards: small enough to follow by hand.

use anyhow::Result;
use attention::{HeadParameters, Linear, Mask, Matrix};
use single_head::{HeadPass, attend};

use crate::one_head;

/// The query whose output is asked for: *overflowed*.
pub const QUERY: usize = 2;
/// The output that we wish for, `[water, money]`: the value of *banks*.
pub const WISHED: [f64; 2] = [1.0, 1.0];

/// A forward pass over the three words, and the gradients of one row's loss.
#[derive(Debug)]
pub struct ByHand {
    /// The forward pass.
    pub pass: HeadPass,
    /// The mean squared error of the row.
    pub loss: f64,
    /// `[1, d_v]`.
    pub d_out: Matrix,
    /// `[1, n]`.
    pub d_shares: Matrix,
    /// Shares · d_shares, which softmax's backward step subtracts.
    pub dot: f64,
    /// `[1, n]`.
    pub d_scores: Matrix,
    /// Before the division by √d_k, `[1, n]`.
    pub d_products: Matrix,
    /// `[1, d_k]`.
    pub d_q: Matrix,
    /// Weights of the query, of the key and of the value projection, `[d_model, 2]` each.
    pub d_w: [Matrix; 3],
}

/// The loss of a head: how far the output of [`QUERY`] is from [`WISHED`].
///
/// # Errors
/// If the head has other widths than the words.
pub fn loss(head: &HeadParameters) -> Result<f64> {
    let x = one_head::words();
    let out = attend(head, &x, &x, &x, &Mask::None)?.out;
    Ok(squared_error(&out))
}

/// Forward and backward, each line of the backward pass below the forward line.
///
/// # Errors
/// If the head has other widths than the words.
pub fn backward(head: &HeadParameters) -> Result<ByHand> {
    let x = one_head::words();
    let pass = attend(head, &x, &x, &x, &Mask::None)?;
    let row = |m: &Matrix| m.rows(QUERY, 1).into_owned();
    let (a, q) = (row(&pass.attn), row(&pass.q));

    // L = ((out_0 − wished_0)² + (out_1 − wished_1)²) / 2
    let d_out = row(&pass.out) - Matrix::from_row_slice(1, 2, &WISHED);
    // out = Σ_j a_j v_j
    let d_shares = &d_out * pass.v.transpose();
    let d_v = a.transpose() * &d_out;
    // a = softmax(s)
    let dot = a.dot(&d_shares);
    let d_scores = a.component_mul(&d_shares.add_scalar(-dot));
    // s_j = q · k_j / √2
    let d_products = &d_scores / 2f64.sqrt();
    let d_q = &d_products * &pass.k;
    let d_k = d_products.transpose() * &q;
    // q = x_t W^Q, k_j = x_j W^K, v_j = x_j W^V
    let d_w = [row(&x).transpose() * &d_q, x.transpose() * d_k, x.transpose() * d_v];

    let loss = squared_error(&pass.out);
    Ok(ByHand { pass, loss, d_out, d_shares, dot, d_scores, d_products, d_q, d_w })
}

/// The largest difference between the gradients of all weights and central differences.
///
/// # Errors
/// If the head has other widths than the words.
pub fn off(head: &HeadParameters, d_w: &[Matrix; 3]) -> Result<f64> {
    let mut largest = 0.0;
    for (which, d_w) in d_w.iter().enumerate() {
        for at in 0..d_w.len() {
            let nudged = |h: f64| {
                let mut head = head.clone();
                projection(&mut head, which).weight[at] += h;
                loss(&head)
            };
            let slope = super::ways::slope(nudged)?;
            largest = f64::max(largest, (slope - d_w[at]).abs());
        }
    }
    Ok(largest)
}

/// The weights of the queries, of the keys or of the values.
pub(super) fn projection(head: &mut HeadParameters, which: usize) -> &mut Linear {
    match which {
        0 => &mut head.w_q,
        1 => &mut head.w_k,
        _ => &mut head.w_v,
    }
}

fn squared_error(out: &Matrix) -> f64 {
    let of = |i: usize| (out[(QUERY, i)] - WISHED[i]).powi(2);
    (of(0) + of(1)) / 2.0
}
