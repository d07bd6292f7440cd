//! Backwards through one head, from its output to Q, K and V.

use std::process::ExitCode;

use attention::{HeadParameters, LayerParameters, Linear, Mask, Matrix, softmax_rows};
use fused_heads::FusedAttention;
use gradients::{LayerPass, softmax_rows_backward};

use super::inputs;
use crate::{Case, Exercise, Place, Section};

mod mistakes;

#[cfg(test)]
mod tests;

/// What a head attends with, the map that came of it, and the gradient of its output.
#[derive(Clone)]
pub struct Input {
    q: Matrix,
    k: Matrix,
    v: Matrix,
    mask: Mask,
    attn: Matrix,
    d_head: Matrix,
}

impl Input {
    fn sqrt_d_k(&self) -> f64 {
        (self.q.ncols() as f64).sqrt()
    }

    fn d_attn(&self) -> Matrix {
        &self.d_head * self.v.transpose()
    }

    fn d_scores(&self) -> Matrix {
        softmax_rows_backward(&self.attn, self.d_attn()).expect("one shape")
    }

    fn d_products(&self) -> Matrix {
        self.d_scores() / self.sqrt_d_k()
    }

    /// The three gradients, if this is the gradient of Q Kᵀ.
    fn through_products(&self, d_products: &Matrix) -> [Matrix; 3] {
        let dq = d_products * &self.k;
        let dk = d_products.transpose() * &self.q;
        [dq, dk, self.attn.transpose() * &self.d_head]
    }

    fn right(&self) -> [Matrix; 3] {
        self.through_products(&self.d_products())
    }

    /// A layer of one head that this is: its projections take queries, keys and values as
    /// they are, and W^O puts the head beside as many zeros as a query is wide.
    fn backward_of_a_layer(&self) -> [Matrix; 3] {
        let (d_k, d_v) = (self.q.ncols(), self.v.ncols());
        let d_model = d_k + d_v;
        let as_it_is = |d_in, d_out| Matrix::identity(d_in, d_out);
        let linear = |weight| Linear { weight, bias: None };
        let head = HeadParameters {
            w_q: linear(as_it_is(d_model, d_k)),
            w_k: linear(as_it_is(d_k, d_k)),
            w_v: linear(as_it_is(d_v, d_v)),
        };
        let w_o = linear(as_it_is(d_v, d_v).insert_columns(0, d_k, 0.0));
        let layer = LayerParameters::new(vec![head], w_o).expect("the widths fit");
        let layer = FusedAttention::new(&layer);

        let query = self.q.clone().insert_columns(d_k, d_v, 0.0);
        let d_out = self.d_head.clone().insert_columns(0, d_k, 0.0);
        let pass = LayerPass::forward(&layer, &query, &self.k, &self.v, &self.mask);
        let back = pass.expect("the sizes fit").backward(&d_out).expect("the sizes fit");
        let [d_query, d_key, d_value] = back.d_query_key_value().expect("three inputs");
        let dq = d_query.columns(0, d_k).into_owned();
        [dq, d_key.clone(), d_value.clone()]
    }
}

/// What the reader writes: from `q`, `[n_q, d_k]`, `k`, `[n_kv, d_k]`, `v`, `[n_kv, d_v]`,
/// the map `attn`, `[n_q, n_kv]`, and `d_head`, `[n_q, d_v]`, the gradients of `q`, `k` and
/// `v`, each in the shape of what it belongs to.
pub type HeadBackward =
    fn(q: &Matrix, k: &Matrix, v: &Matrix, attn: &Matrix, d_head: &Matrix) -> [Matrix; 3];

/// Checks an answer.
pub fn check(answer: HeadBackward) -> ExitCode {
    EXERCISE
        .check(move |Input { q, k, v, attn, d_head, .. }| answer(q, k, v, attn, d_head))
}

const CHAPTER: &str = "the-backward-pass";
const WALK: Section = Section::new(CHAPTER, "The walk");

/// The exercise.
pub static EXERCISE: Exercise<Input, [Matrix; 3]> = Exercise {
    name: "head_backward",
    title: "One head, backwards",
    read: WALK,
    begin: "the last line of the head, head = A V. It is a product, so it has two gradients. \
        Which of them is asked for, and which goes on to the softmax?",
    print: "the gradients in the order of the backward pass, with their shapes",
    passed: "A gradient of the head's output has become gradients of its queries, keys and \
        values. A query that attends to nothing gets zeros, and no mask was needed.",
    cases,
    reference: Input::backward_of_a_layer,
    mistakes: mistakes::ALL,
    place: |_, Place { part, row, column }| match part {
        0 => format!("dq, query {row}, feature {column}"),
        1 => format!("dq is right; dk, key {row}, feature {column}"),
        _ => format!("dq and dk are right; dv, key {row}, feature {column}"),
    },
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_q: usize, n_kv: usize, d_k: usize, d_v: usize, blocked: bool, seed| {
        let (mask, open) = match blocked {
            true => {
                (inputs::some_blocked(n_q, n_kv), "; some keys blocked, for query 1 all")
            }
            false => (Mask::None, ""),
        };
        let (q, k) =
            (inputs::matrix(n_q, d_k, seed), inputs::matrix(n_kv, d_k, seed + 1));
        let scores = &q * k.transpose() / (d_k as f64).sqrt();
        let attn = softmax_rows(mask.apply(scores));
        let v = inputs::matrix(n_kv, d_v, seed + 2);
        let d_head = inputs::matrix(n_q, d_v, seed + 3);
        Case {
            sizes: format!("{n_q} queries, {n_kv} keys, d_k {d_k}, d_v {d_v}{open}"),
            square: n_q == n_kv && n_kv == d_k && d_k == d_v,
            input: Input { q, k, v, mask, attn, d_head },
        }
    };
    vec![
        case(3, 3, 3, 3, false, 23),
        case(3, 5, 4, 2, false, 5),
        case(4, 3, 2, 5, true, 9),
    ]
}
