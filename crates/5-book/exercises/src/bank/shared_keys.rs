//! Query heads that share keys and values, under a soft cap and a causal mask.

use std::process::ExitCode;

use attention::{Mask, Matrix};
use variants::{Changes, Groups, Positions, SoftCap, attend, attended};

use super::{inputs, places};
use crate::{Case, Exercise, Section};

mod mistakes;

/// Queries, keys and values, and how many heads of each there are.
pub struct Input {
    q: Matrix,
    k: Matrix,
    v: Matrix,
    n_heads: usize,
    n_kv_heads: usize,
    cap: f64,
}

impl Input {
    fn right(&self) -> Matrix {
        let groups = Groups::new(self.n_heads, self.n_kv_heads).expect("a divisor");
        let at = Positions::new(self.q.nrows(), self.k.nrows());
        let soft_cap = Some(SoftCap::new(self.cap).expect("a cap above 0"));
        let changes = Changes { soft_cap, ..Changes::default() };
        let views = [self.q.as_view(), self.k.as_view(), self.v.as_view()];
        let heads = attend(views, groups, &at, &changes, &Mask::Causal);
        attended(heads.expect("sizes fit")).out
    }

    /// Head by head: which keys and values it reads, and its shares from its bare products,
    /// `[n_q, n_kv]`.
    fn heads(
        &self,
        group: impl Fn(usize) -> usize,
        shares: impl Fn(Matrix) -> Matrix,
    ) -> Matrix {
        self.heads_of(&group, &group, shares)
    }

    /// The same with groups of their own for the values.
    fn heads_of(
        &self,
        of_keys: impl Fn(usize) -> usize,
        of_values: impl Fn(usize) -> usize,
        shares: impl Fn(Matrix) -> Matrix,
    ) -> Matrix {
        let (d_k, d_v) = (self.d_k(), self.v.ncols() / self.n_kv_heads);
        let mut out = Matrix::zeros(self.q.nrows(), self.n_heads * d_v);
        for head in 0..self.n_heads {
            let q_i = self.q.columns(head * d_k, d_k);
            let products = q_i * self.k.columns(of_keys(head) * d_k, d_k).transpose();
            let read = shares(products) * self.v.columns(of_values(head) * d_v, d_v);
            out.columns_mut(head * d_v, d_v).copy_from(&read);
        }
        out
    }

    /// The right heads, each written from this column on.
    fn written(&self, column: impl Fn(usize) -> usize) -> Matrix {
        let right = self.right();
        let d_v = self.v.ncols() / self.n_kv_heads;
        let mut out = Matrix::zeros(right.nrows(), right.ncols());
        for head in 0..self.n_heads {
            out.columns_mut(column(head), d_v).copy_from(&right.columns(head * d_v, d_v));
        }
        out
    }

    /// Neighbours share, and a head's shares are made so from its bare products.
    fn with(&self, shares: impl Fn(Matrix) -> Matrix) -> Matrix {
        self.heads(|head| head / (self.n_heads / self.n_kv_heads), shares)
    }

    fn d_k(&self) -> usize {
        self.q.ncols() / self.n_heads
    }

    fn scale(&self) -> f64 {
        (self.d_k() as f64).sqrt()
    }

    fn capped(&self, scores: Matrix) -> Matrix {
        scores.map(|score| self.cap * (score / self.cap).tanh())
    }

    /// The scores as they should be, before the mask.
    fn scores(&self, products: Matrix) -> Matrix {
        self.capped(products / self.scale())
    }
}

/// Query i sees the keys up to `last(i)`.
fn masked(mut scores: Matrix, last: impl Fn(usize) -> usize) -> Matrix {
    for i in 0..scores.nrows() {
        for j in last(i) + 1..scores.ncols() {
            scores[(i, j)] = f64::NEG_INFINITY;
        }
    }
    scores
}

/// The queries are the last tokens.
fn causal(scores: Matrix) -> Matrix {
    let before = scores.ncols() - scores.nrows();
    masked(scores, |i| before + i)
}

/// What the reader writes: the outputs of all query heads, `[n_q, n_heads · d_v]`.
pub type AttendShared =
    fn(qkv: [&Matrix; 3], n_heads: usize, n_kv_heads: usize, cap: f64) -> Matrix;

/// Checks an answer.
pub fn check(answer: AttendShared) -> ExitCode {
    EXERCISE.check(move |input| {
        let Input { q, k, v, n_heads, n_kv_heads, cap } = input;
        answer([q, k, v], *n_heads, *n_kv_heads, *cap)
    })
}

const SHARED: Section = Section::new("variants", "Shared keys and values: MQA and GQA");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "shared_keys",
    title: "Keys that several heads read",
    read: SHARED,
    begin: "6 query heads on 2 heads of keys: write next to each query head which columns of \
        k it reads",
    print: "the group of each head, and the shares of head 1",
    passed: "Neighbours read the same keys and values, and what is blocked gets nothing, \
        whatever the cap.",
    cases,
    reference: Input::right,
    mistakes: mistakes::ALL,
    place: places::token_feature,
};

fn cases() -> Vec<Case<Input>> {
    let case = |[n_q, n_kv]: [usize; 2],
                [n_heads, n_kv_heads]: [usize; 2],
                [d_k, d_v]: [usize; 2],
                cap: f64,
                seed: u64| {
        Case {
            sizes: format!(
                "{n_heads} heads on {n_kv_heads}, {n_q} queries, {n_kv} keys, d_k {d_k}, \
                 d_v {d_v}, cap {cap}"
            ),
            square: n_q == n_kv && d_k == d_v,
            input: Input {
                q: inputs::matrix(n_q, n_heads * d_k, seed) * 1.5,
                k: inputs::matrix(n_kv, n_kv_heads * d_k, seed + 1) * 1.5,
                v: inputs::matrix(n_kv, n_kv_heads * d_v, seed + 2),
                n_heads,
                n_kv_heads,
                cap,
            },
        }
    };
    vec![
        case([4, 4], [4, 2], [3, 3], 2.0, 1),
        case([3, 5], [6, 2], [4, 2], 1.5, 4),
        case([1, 6], [6, 3], [2, 3], 3.0, 7),
    ]
}

#[cfg(test)]
mod tests {
    use attention::softmax_rows;

    use super::*;
    use crate::Verdict;

    #[test]
    fn copies_of_keys_and_values_are_right() {
        let copied = |input: &Input| {
            let repeated = |x: &Matrix| {
                let width = x.ncols() / input.n_kv_heads;
                let of = input.n_heads / input.n_kv_heads;
                Matrix::from_fn(x.nrows(), input.n_heads * width, |row, column| {
                    x[(row, column / width / of * width + column % width)]
                })
            };
            let copies = Input {
                q: input.q.clone(),
                k: repeated(&input.k),
                v: repeated(&input.v),
                n_kv_heads: input.n_heads,
                ..*input
            };
            copies.heads(|head| head, |it| softmax_rows(causal(copies.scores(it))))
        };
        assert_eq!(EXERCISE.diagnose(copied), Verdict::Passed);
    }
}
