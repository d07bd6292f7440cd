//! Backwards through one head, from its output to Q, K and V.

use std::process::ExitCode;

use attention::{HeadParameters, LayerParameters, Linear, Mask, Matrix, softmax_rows};
use fused_heads::FusedAttention;
use gradients::{LayerPass, softmax_rows_backward};

use super::inputs;
use crate::{Case, Exercise, Mistake, Place, Section};

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
const SOFTMAX: Section = Section::new(CHAPTER, "Softmax: one dot product per row");
const CANNOT: Section = Section::new(CHAPTER, "What cannot learn");
const WRONG: Section = Section::new(CHAPTER, "What people get wrong");

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
    mistakes: &[
        Mistake {
            name: "forgets the √d_k in the backward pass",
            does: "It goes from the scores straight to Q and K, and both gradients are √d_k \
                times too large",
            looks_right: "The map that was handed over is scaled already, and dV is \
                right",
            read: WRONG,
            answer: |input| input.through_products(&input.d_scores()),
        },
        Mistake {
            name: "multiplies by √d_k in the backward pass",
            does: "It undoes the division, and a gradient is not undone but passed on: a \
                product counts for 1/√d_k of itself, so its gradient does too",
            looks_right: "The backward pass takes the steps in reverse, and the reverse of a \
                division is a multiplication",
            read: WALK,
            answer: |input| {
                input.through_products(&(input.d_scores() * input.sqrt_d_k()))
            },
        },
        Mistake {
            name: "divides by √d_k twice",
            does: "It divides the gradient of the products, and then dQ and dK once more; \
                forward there is one division, and so there is one backward",
            looks_right: "Q and K both met the scale; but they met it in one product",
            read: WALK,
            answer: |input| {
                input.through_products(&(input.d_products() / input.sqrt_d_k()))
            },
        },
        ONE_SCALE,
        Mistake {
            name: "divides dK by √d_k and not dQ",
            answer: |input| {
                let [dq, ..] = input.through_products(&input.d_scores());
                let [_, dk, dv] = input.right();
                [dq, dk, dv]
            },
            ..ONE_SCALE
        },
        Mistake {
            name: "divides dV by √d_k too",
            does: "It scales all three gradients at the end; but values are averaged after \
                the scale and never meet it",
            looks_right: "All three come from one head, and dQ and dK are right",
            read: WALK,
            answer: |input| {
                let [dq, dk, dv] = input.right();
                [dq, dk, dv / input.sqrt_d_k()]
            },
        },
        Mistake {
            name: "passes over the softmax",
            does: "It takes the gradient of the shares for that of the scores",
            looks_right: "Both have a number for each query and key, and every shape is \
                right",
            read: SOFTMAX,
            answer: |input| input.through_products(&(input.d_attn() / input.sqrt_d_k())),
        },
        Mistake {
            name: "goes back through softmax entry by entry",
            does: "It takes a (1 − a) · da, as if a share could grow by itself; what the \
                others of its row must give is missing",
            looks_right: "It is the derivative of a share by its own score",
            read: WRONG,
            answer: |input| {
                let alone = |a, d| a * (1.0 - a) * d;
                let d_scores = input.attn.zip_map(&input.d_attn(), alone);
                input.through_products(&(d_scores / input.sqrt_d_k()))
            },
        },
        Mistake {
            name: "forgets the dot product of the softmax",
            does: "It takes a · da, and what is common to a whole row is not taken off; so \
                raising all scores of a row alike would seem to change the loss",
            looks_right: "A key with a share of 0 gets nothing, and every shape is right",
            read: SOFTMAX,
            answer: |input| {
                let d_scores = input.attn.component_mul(&input.d_attn());
                input.through_products(&(d_scores / input.sqrt_d_k()))
            },
        },
        Mistake {
            name: "takes the dot products down the columns",
            does: "It takes off one number for each key; but softmax shares out each row, \
                so it is one for each query",
            looks_right: "Every shape is right, and a key with a share of 0 gets nothing",
            read: SOFTMAX,
            answer: |input| {
                let (attn, d_attn) = (input.attn.transpose(), input.d_attn().transpose());
                let d_scores = softmax_rows_backward(&attn, d_attn).expect("one shape");
                input.through_products(&(d_scores.transpose() / input.sqrt_d_k()))
            },
        },
        Mistake {
            name: "exchanges the map and its gradient in softmax backward",
            does: "It hands over da for the map and the map for da",
            looks_right: "Both have the same shape, and their dot products are the same",
            read: SOFTMAX,
            answer: |input| {
                let d_scores = softmax_rows_backward(&input.d_attn(), input.attn.clone());
                let d_scores = d_scores.expect("one shape");
                input.through_products(&(d_scores / input.sqrt_d_k()))
            },
        },
        Mistake {
            name: "gathers queries for dQ and keys for dK",
            does: "It computes dP · Q and dPᵀ · K; but a factor of a product gets the other \
                factor: a query gathers keys, and a key queries",
            looks_right: "Each gradient is made from what it belongs to, and with as many \
                keys as queries the shapes are right",
            read: WALK,
            answer: |input| {
                let d_products = input.d_products();
                let [_, _, dv] = input.right();
                [&d_products * &input.q, d_products.transpose() * &input.k, dv]
            },
        },
        Mistake {
            name: "uses the map's gradient for dV",
            does: "It computes dAᵀ · dhead; but a value gets dhead by the shares with which \
                it was read",
            looks_right: "In a backward pass one product follows another, and the shape is \
                right",
            read: WALK,
            answer: |input| {
                let [dq, dk, _] = input.right();
                [dq, dk, input.d_attn().transpose() * &input.d_head]
            },
        },
        Mistake {
            name: "computes the map anew, without its mask",
            does: "It makes shares from Q and K and not from the map of the forward pass, \
                so blocked keys get gradients, and values from queries that never read them",
            looks_right: "Without a mask it is the same map",
            read: CANNOT,
            answer: |input| {
                let scores = &input.q * input.k.transpose() / input.sqrt_d_k();
                Input { attn: softmax_rows(scores), ..input.clone() }.right()
            },
        },
        Mistake {
            name: "uses the gradient of the scores for dV",
            does: "It computes dSᵀ · dhead; but values meet the shares, and never the scores",
            looks_right: "dK is made with dSᵀ, and the shape is right",
            read: WALK,
            answer: |input| {
                let [dq, dk, _] = input.right();
                [dq, dk, input.d_scores().transpose() * &input.d_head]
            },
        },
        Mistake {
            name: "takes the mean over the queries for dV",
            does: "It divides dV by the number of queries; but a value that many queries \
                read moves all of their outputs, and that adds up",
            looks_right: "A loss is often a mean, and then it has been divided already",
            read: WALK,
            answer: |input| {
                let [dq, dk, dv] = input.right();
                [dq, dk, dv / input.q.nrows() as f64]
            },
        },
        Mistake {
            name: "returns them in the order in which they come",
            does: "It returns dV, dK, dQ; dQ, dK, dV was asked for",
            looks_right: "Backwards, V comes first, and where all sizes are equal every \
                shape is right",
            read: WALK,
            answer: |input| {
                let [dq, dk, dv] = input.right();
                [dv, dk, dq]
            },
        },
        Mistake {
            name: "exchanges dQ and dK",
            does: "It gives the gradient of the keys first and that of the queries \
                second",
            looks_right: "Both are as wide, and with as many keys as queries both have the \
                shape of the other",
            read: WALK,
            answer: |input| {
                let [dq, dk, dv] = input.right();
                [dk, dq, dv]
            },
        },
        Mistake {
            name: "does not transpose the map for dV",
            does: "It computes A · dhead, a row for each query; but a value gathers from the \
                queries that read it, which is a column of A",
            looks_right: "Forward it is A times V, and in self-attention A is square",
            read: WRONG,
            answer: |input| {
                let [dq, dk, _] = input.right();
                [dq, dk, &input.attn * &input.d_head]
            },
        },
        Mistake {
            name: "does not transpose V for dA",
            does: "It computes dhead · V, in which the features of a head meet the keys; \
                but a share gets the dot product of dhead with the value that it is for",
            looks_right: "Forward it is A times V, and where all sizes are equal the shape \
                is right",
            read: WRONG,
            answer: |input| {
                let v_t = input.v.transpose();
                let [dq, dk, _] = Input { v: v_t, ..input.clone() }.right();
                let [_, _, dv] = input.right();
                [dq, dk, dv]
            },
        },
        Mistake {
            name: "does not transpose dP for dK",
            does: "It computes dP · Q, in which a query gathers queries; but a key gathers \
                the queries that asked it, which is a column of dP",
            looks_right: "dQ needs no transpose, and with as many keys as queries dK fits \
                without one",
            read: WALK,
            answer: |input| {
                let [dq, _, dv] = input.right();
                [dq, input.d_products() * &input.q, dv]
            },
        },
        Mistake {
            name: "transposes K for dQ",
            does: "It computes dP · Kᵀ, as if K had gone in as it is; it went in transposed, so it is transposed back",
            looks_right: "The other products have a transpose in the backward pass, and where all \
                sizes are equal the shape is right",
            read: WALK,
            answer: |input| {
                let [_, dk, dv] = input.right();
                [input.d_products() * input.k.transpose(), dk, dv]
            },
        },
    ],
    place: |_, Place { part, row, column }| match part {
        0 => format!("dq, query {row}, feature {column}"),
        1 => format!("dq is right; dk, key {row}, feature {column}"),
        _ => format!("dq and dk are right; dv, key {row}, feature {column}"),
    },
};

/// The scale in one of two products.
const ONE_SCALE: Mistake<Input, [Matrix; 3]> = Mistake {
    name: "divides dQ by √d_k and not dK",
    does: "It puts the scale into one of two products; but both come from the \
        gradient of Q Kᵀ, which is that of the scores divided by √d_k",
    looks_right: "There is one division forward, and one backward; but there it \
        stands before the path splits",
    read: WRONG,
    answer: |input| {
        let [_, dk, _] = input.through_products(&input.d_scores());
        let [dq, _, dv] = input.right();
        [dq, dk, dv]
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
