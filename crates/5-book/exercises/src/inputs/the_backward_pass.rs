//! Of the chapter on the backward pass.

use std::process::ExitCode;

use attention::{Linear, Mask, Matrix, Rng, SeedableRng, softmax_rows};

use super::{place, random};
use crate::{Answer, Case, Exercise, Place, arrays};

/// No mask, or one that blocks some of the keys, and what a message says of it.
fn mask(n_q: usize, n_kv: usize, blocked: bool) -> (Mask, &'static str) {
    match blocked {
        true => (random::some_blocked(n_q, n_kv), "; some keys blocked, for query 1 all"),
        false => (Mask::None, ""),
    }
}

/// Backwards through softmax: `dS = A ⊙ (dA − row sums of A ⊙ dA)`.
pub mod softmax_backward {
    use super::*;

    /// A map, and the gradient of the loss with respect to it.
    pub struct Input {
        attn: Matrix,
        d_attn: Matrix,
    }

    arrays!(Input: attn, d_attn);

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("softmax_backward", cases, place::map);

    /// Checks what gives, from `attn` and `d_attn`, `[n_q, n_kv]` both, the gradient of the
    /// scores, `[n_q, n_kv]`.
    pub fn check(answer: fn(attn: &Matrix, d_attn: &Matrix) -> Matrix) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.attn, &input.d_attn))
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_q: usize, n_kv: usize, blocked: bool, own: u64| {
            let (mask, open) = mask(n_q, n_kv, blocked);
            Case {
                sizes: format!("{n_q} queries, {n_kv} keys{open}"),
                square: n_q == n_kv,
                input: Input {
                    attn: random::map(n_q, n_kv, &mask, seed + own),
                    d_attn: random::matrix(n_q, n_kv, seed + own + 1),
                },
            }
        };
        vec![case(3, 3, false, 1), case(2, 5, false, 3), case(5, 4, true, 5)]
    }
}

/// Backwards through a projection: `dW = Xᵀ dY`, `db = Σ_t dY_t`, `dX = dY Wᵀ`.
pub mod projection_backward {
    use super::*;

    /// A projection with a bias, its tokens, and the gradient of what it made of them.
    pub struct Input {
        linear: Linear,
        x: Matrix,
        d_y: Matrix,
    }

    arrays!(Input: linear, x, d_y);

    /// The gradients of W, of b as a row, and of x.
    type Gradients = (Matrix, Vec<f64>, Matrix);

    impl Answer for Gradients {
        fn parts(&self) -> Vec<Matrix> {
            let (d_w, d_b, d_x) = self;
            vec![d_w.clone(), Matrix::from_row_slice(1, d_b.len(), d_b), d_x.clone()]
        }

        fn label(part: usize, _: usize) -> String {
            ["d_w", "d_b", "d_x"][part].into()
        }
    }

    pub(crate) static EXERCISE: Exercise<Input, Gradients> =
        Exercise::new("projection_backward", cases, place);

    /// Checks what gives, from a projection with `weight`, `[d_in, d_out]`, and `bias`,
    /// `[d_out]`, from `x`, `[n_tokens, d_in]`, and `d_y`, `[n_tokens, d_out]`, the gradients
    /// of the weight, of the bias and of `x`, each in the shape of what it belongs to.
    pub fn check(
        answer: fn(linear: &Linear, x: &Matrix, d_y: &Matrix) -> Gradients,
    ) -> ExitCode {
        EXERCISE.check(move |Input { linear, x, d_y }| answer(linear, x, d_y))
    }

    fn place(_: &Input, Place { part, row, column }: Place) -> String {
        match part {
            0 => format!("d_w, row {row}, column {column}"),
            1 => format!("d_w is right; d_b, entry {column}"),
            _ => format!("d_w and d_b are right; d_x, token {row}, feature {column}"),
        }
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_tokens: usize, d_in: usize, d_out: usize, own: u64| {
            let rng = &mut Rng::seed_from_u64(seed + own);
            Case {
                sizes: format!("{n_tokens} tokens, d_in {d_in}, d_out {d_out}"),
                square: n_tokens == d_in && d_in == d_out,
                input: Input {
                    linear: Linear::random(d_in, d_out, true, rng),
                    x: random::matrix(n_tokens, d_in, seed + own + 1),
                    d_y: random::matrix(n_tokens, d_out, seed + own + 2),
                },
            }
        };
        vec![case(3, 3, 3, 1), case(4, 2, 3, 4), case(2, 5, 4, 7)]
    }
}

/// Backwards through one head, from its output to Q, K and V.
pub mod head_backward {
    use super::*;

    /// What a head attends with, the map that came of it, and the gradient of its output.
    pub struct Input {
        q: Matrix,
        k: Matrix,
        v: Matrix,
        attn: Matrix,
        d_head: Matrix,
    }

    arrays!(Input: q, k, v, attn, d_head);

    /// The gradients of Q, of K and of V.
    type Gradients = [Matrix; 3];

    impl Answer for Gradients {
        fn parts(&self) -> Vec<Matrix> {
            self.to_vec()
        }

        fn label(part: usize, _: usize) -> String {
            ["dq", "dk", "dv"][part].into()
        }
    }

    pub(crate) static EXERCISE: Exercise<Input, Gradients> =
        Exercise::new("head_backward", cases, place);

    /// Checks what gives, from `q`, `[n_q, d_k]`, `k`, `[n_kv, d_k]`, `v`, `[n_kv, d_v]`, the
    /// map `attn`, `[n_q, n_kv]`, and `d_head`, `[n_q, d_v]`, the gradients of `q`, `k` and
    /// `v`, each in the shape of what it belongs to.
    pub fn check(
        answer: fn(&Matrix, &Matrix, &Matrix, &Matrix, &Matrix) -> Gradients,
    ) -> ExitCode {
        EXERCISE
            .check(move |Input { q, k, v, attn, d_head }| answer(q, k, v, attn, d_head))
    }

    fn place(_: &Input, Place { part, row, column }: Place) -> String {
        match part {
            0 => format!("dq, query {row}, feature {column}"),
            1 => format!("dq is right; dk, key {row}, feature {column}"),
            _ => format!("dq and dk are right; dv, key {row}, feature {column}"),
        }
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case =
            |n_q: usize, n_kv: usize, d_k: usize, d_v: usize, blocked: bool, own| {
                let own = seed + own;
                let (mask, open) = mask(n_q, n_kv, blocked);
                let (q, k) =
                    (random::matrix(n_q, d_k, own), random::matrix(n_kv, d_k, own + 1));
                let scores = &q * k.transpose() / (d_k as f64).sqrt();
                let attn = softmax_rows(mask.apply(scores));
                let v = random::matrix(n_kv, d_v, own + 2);
                let d_head = random::matrix(n_q, d_v, own + 3);
                Case {
                    sizes: format!(
                        "{n_q} queries, {n_kv} keys, d_k {d_k}, d_v {d_v}{open}"
                    ),
                    square: n_q == n_kv && n_kv == d_k && d_k == d_v,
                    input: Input { q, k, v, attn, d_head },
                }
            };
        vec![
            case(3, 3, 3, 3, false, 23),
            case(3, 5, 4, 2, false, 5),
            case(4, 3, 2, 5, true, 9),
        ]
    }
}
