//! Query heads that share keys and values, under a soft cap and a causal mask.

use std::process::ExitCode;

use attention::{Mask, Matrix, softmax_rows};
use variants::{Changes, Groups, Positions, SoftCap, attend, attended};

use super::{inputs, places};
use crate::{Case, Exercise, Mistake, Section};

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
        let (d_k, d_v) = (self.d_k(), self.v.ncols() / self.n_kv_heads);
        let mut out = Matrix::zeros(self.q.nrows(), self.n_heads * d_v);
        for head in 0..self.n_heads {
            let group = group(head);
            let q_i = self.q.columns(head * d_k, d_k);
            let products = q_i * self.k.columns(group * d_k, d_k).transpose();
            let read = shares(products) * self.v.columns(group * d_v, d_v);
            out.columns_mut(head * d_v, d_v).copy_from(&read);
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
const BOUNDS: Section = Section::new("variants", "Scores within bounds: soft caps and QK-norm");
const WRONG: Section = Section::new("variants", "What people get wrong");
const CAUSAL: Section = Section::new("masks", "What people get wrong");
const SCALE: Section = Section::new("scores-softmax-scale", "Why divide by √d_k");

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
    mistakes: &[
        Mistake {
            name: "repeats the keys in the wrong order",
            does: "Head i reads group i mod n_kv_heads: keys are repeated as 0, 1, 0, 1 and \
                not as 0, 0, 1, 1",
            looks_right: "All shapes fit, and with as many groups as heads, or with one, it \
                is right",
            read: WRONG,
            answer: |input| {
                input.heads(
                    |head| head % input.n_kv_heads,
                    |products| softmax_rows(causal(input.scores(products))),
                )
            },
        },
        Mistake {
            name: "gives all heads the first keys and values",
            does: "It never looks at the other groups",
            looks_right: "With one head of keys and values it is right",
            read: SHARED,
            answer: |input| {
                input
                    .heads(|_| 0, |products| softmax_rows(causal(input.scores(products))))
            },
        },
        Mistake {
            name: "caps after the mask",
            does: "It bends −∞ to −cap, so what is blocked gets a share",
            looks_right: "With a cap of 50 that share is too small to be seen",
            read: WRONG,
            answer: |input| {
                input.with(|products| {
                    let masked = causal(products / input.scale());
                    softmax_rows(input.capped(masked))
                })
            },
        },
        Mistake {
            name: "caps before it divides by √d_k",
            does: "It bends the bare dot products, and then divides what is left",
            looks_right: "Scores stay within a bound, but one that is √d_k times smaller",
            read: BOUNDS,
            answer: |input| {
                input.with(|products| {
                    softmax_rows(causal(input.capped(products) / input.scale()))
                })
            },
        },
        Mistake {
            name: "forgets the cap",
            does: "Scores go into softmax as they are",
            looks_right: "Scores that are much smaller than the cap are hardly bent",
            read: BOUNDS,
            answer: |input| {
                input.with(|products| softmax_rows(causal(products / input.scale())))
            },
        },
        Mistake {
            name: "cuts scores off at the cap",
            does: "It clamps: all scores beyond the cap become one",
            looks_right: "It is a bound too, and small scores are right",
            read: BOUNDS,
            answer: |input| {
                input.with(|products| {
                    let scores = products / input.scale();
                    softmax_rows(causal(scores.map(|it| it.clamp(-input.cap, input.cap))))
                })
            },
        },
        Mistake {
            name: "does not divide inside of the tanh",
            does: "It computes cap · tanh(score), which is cap already for a score of 3",
            looks_right: "Scores stay within the cap",
            read: BOUNDS,
            answer: |input| {
                input.with(|products| {
                    let scores = products / input.scale();
                    softmax_rows(causal(scores.map(|score| input.cap * score.tanh())))
                })
            },
        },
        Mistake {
            name: "starts the mask at the first key",
            does: "Query 0 sees key 0 alone, as if the queries were the first tokens",
            looks_right: "With as many queries as keys it is right",
            read: CAUSAL,
            answer: |input| {
                input.with(|products| softmax_rows(masked(input.scores(products), |i| i)))
            },
        },
        Mistake {
            name: "forgets the mask",
            does: "Every query sees all keys, and those after it too",
            looks_right: "The last query is right",
            read: CAUSAL,
            answer: |input| input.with(|products| softmax_rows(input.scores(products))),
        },
        Mistake {
            name: "hides the token itself",
            does: "A query sees only what stands before its own token",
            looks_right: "It sees nothing of the future",
            read: CAUSAL,
            answer: |input| {
                input.with(|products| {
                    let before = products.ncols() - products.nrows();
                    let scores = input.scores(products);
                    let last = |i: usize| (before + i).saturating_sub(1);
                    softmax_rows(masked(scores, last))
                })
            },
        },
        Mistake {
            name: "divides by the root of the width of all heads",
            does: "It divides by √(n_heads · d_k), the width of q",
            looks_right: "With one head it is right",
            read: SCALE,
            answer: |input| {
                input.with(|products| {
                    let root = (input.q.ncols() as f64).sqrt();
                    softmax_rows(causal(input.capped(products / root)))
                })
            },
        },
        Mistake {
            name: "does not divide the scores by √d_k",
            does: "The bare dot products go into the cap",
            looks_right: "Rows sum to 1, and the cap keeps them from growing",
            read: SCALE,
            answer: |input| {
                input.with(|products| softmax_rows(causal(input.capped(products))))
            },
        },
    ],
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
