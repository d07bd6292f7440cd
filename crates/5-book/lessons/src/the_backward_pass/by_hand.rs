//! The row of *overflowed* of “One head”, backwards: small enough to follow by hand.

use anyhow::Result;
use attention::{HeadParameters, Linear, Mask, Matrix};
use figures::{Cells, Equation, Figure, equations};
use single_head::{HeadPass, attend};

use crate::args::Args;
use crate::one_head::{self, FEATURES, WORDS};

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

/// The row forward, and line by line backward to the weights of its query.
pub(super) fn lines(_: &Args) -> Result<Figure> {
    let d = backward(&one_head::head(2.0)?)?;
    let row = |m: &Matrix| m.rows(QUERY, 1).into_owned();
    let (x, out, a) = (row(&one_head::words()), row(&d.pass.out), row(&d.pass.attn));
    let [v_t, x_t] = [&d.pass.v, &x].map(Matrix::transpose);
    let cells = |name: &str, m: &Matrix| Cells::new(name, m);
    let k = &d.pass.k;
    let lines = [
        Equation::of(cells("a", &a).columns(&WORDS).attn())
            .times(cells("V", &d.pass.v))
            .equals(cells("out", &out).columns(&["water", "money"]))
            .becomes("− wished", cells("d out", &d.d_out)),
        Equation::of(cells("d out", &d.d_out))
            .times(cells("Vᵀ", &v_t).columns(&WORDS))
            .equals(cells("da", &d.d_shares))
            .becomes("a ⊙ (da − dot)", cells("ds", &d.d_scores)),
        Equation::of(cells("ds", &d.d_scores).columns(&WORDS))
            .over("√2", 2f64.sqrt())
            .times(cells("K", k).rows(&WORDS))
            .equals(cells("dq", &d.d_q)),
        Equation::of(cells("xᵀ", &x_t).rows(&FEATURES).lit(3))
            .times(cells("dq", &d.d_q))
            .equals(cells("dW^Q", &d.d_w[0])),
    ];
    let title = "One row forward, and back to W^Q: attention to “banks” should grow, and \
                 so should the 2 of the verb";
    Ok(equations(title, &lines)?)
}

/// A product, and the two gradients that its shapes force.
pub(super) fn product(_: &Args) -> Result<Figure> {
    let head = one_head::head(2.0)?;
    let d = backward(&head)?;
    let (x, w, v) = (one_head::words(), &head.w_v.weight, &d.pass.v);
    let d_v = d.pass.attn.rows(QUERY, 1).transpose() * &d.d_out;
    let [x_t, w_t] = [&x, w].map(Matrix::transpose);
    let lines = [
        Equation::of(Cells::new("X", &x).rows(&WORDS))
            .times(Cells::new("W", w).rows(&FEATURES))
            .equals(Cells::new("Y", v)),
        Equation::of(Cells::new("Xᵀ", &x_t).rows(&FEATURES).columns(&WORDS))
            .times(Cells::new("dY", &d_v))
            .equals(Cells::new("dW", &d.d_w[2])),
        Equation::of(Cells::new("dY", &d_v).rows(&WORDS))
            .times(Cells::new("Wᵀ", &w_t).columns(&FEATURES))
            .equals(Cells::new("dX", &(&d_v * &w_t))),
    ];
    let title = "The values of the head by hand: dW has the shape of W, and dX that of X";
    Ok(equations(title, &lines)?)
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
