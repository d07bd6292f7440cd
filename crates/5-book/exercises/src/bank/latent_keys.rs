//! Latent keys and values, read through a query that takes the projection in.

use std::process::ExitCode;

use attention::{Matrix, softmax_rows};

use super::inputs;
use crate::{Answer, Case, Exercise, Place, Section};

mod mistakes;

/// Queries, and what keys and values are made from.
pub struct Input {
    q: Matrix,
    latents: Matrix,
    w_uk: Matrix,
    w_uv: Matrix,
    n_heads: usize,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Absorbed {
    /// The queries of all heads, each with its projection of keys taken in.
    pub queries: Matrix,
    /// The outputs of all heads.
    pub out: Matrix,
}

impl Answer for Absorbed {
    fn parts(&self) -> Vec<Matrix> {
        vec![self.queries.clone(), self.out.clone()]
    }

    fn part_name(&self, part: usize) -> String {
        ["the absorbed queries", "the outputs"][part].into()
    }
}

impl Input {
    fn r(&self) -> usize {
        self.latents.ncols()
    }

    fn d_k(&self) -> usize {
        self.q.ncols() / self.n_heads
    }

    fn d_v(&self) -> usize {
        self.w_uv.ncols() / self.n_heads
    }

    fn root(&self) -> f64 {
        (self.d_k() as f64).sqrt()
    }

    fn q_of(&self, i: usize) -> Matrix {
        block(&self.q, self.n_heads, i)
    }

    fn u_of(&self, i: usize) -> Matrix {
        block(&self.w_uk, self.n_heads, i)
    }

    fn v_of(&self, i: usize) -> Matrix {
        block(&self.w_uv, self.n_heads, i)
    }

    fn absorbed(&self, i: usize) -> Matrix {
        self.q_of(i) * self.u_of(i).transpose()
    }

    /// The plain way: every head's keys and values are computed.
    fn right(&self) -> Absorbed {
        let out = |i: usize| {
            let (keys, values) =
                (&self.latents * self.u_of(i), &self.latents * self.v_of(i));
            softmax_rows(self.q_of(i) * keys.transpose() / self.root()) * values
        };
        self.joined(|i| self.absorbed(i), out)
    }

    /// Each head's absorbed query and output.
    fn joined(
        &self,
        absorbed: impl Fn(usize) -> Matrix,
        out: impl Fn(usize) -> Matrix,
    ) -> Absorbed {
        let heads = 0..self.n_heads;
        Absorbed {
            queries: super::heads::concat(
                &heads.clone().map(absorbed).collect::<Vec<_>>(),
            ),
            out: super::heads::concat(&heads.map(out).collect::<Vec<_>>()),
        }
    }

    /// With other absorbed queries and another divisor, and what `read` makes of a head's
    /// average of latents.
    fn with(
        &self,
        absorbed: impl Fn(usize) -> Matrix,
        divisor: f64,
        read: impl Fn(usize, Matrix) -> Matrix,
    ) -> Absorbed {
        let out = |i: usize| {
            let scores = absorbed(i) * self.latents.transpose() / divisor;
            read(i, softmax_rows(scores) * &self.latents)
        };
        self.joined(&absorbed, out)
    }

    /// The right answer with another divisor.
    fn divided_by(&self, divisor: f64) -> Absorbed {
        self.with(|i| self.absorbed(i), divisor, |i, average| average * self.v_of(i))
    }
}

/// Block i of h, in columns.
fn block(x: &Matrix, n_heads: usize, i: usize) -> Matrix {
    let width = x.ncols() / n_heads;
    x.columns(i * width, width).into_owned()
}

/// What the reader writes: from queries, latents and two projections, the absorbed queries
/// and the outputs.
pub type AttendLatent = fn(
    q: &Matrix,
    latents: &Matrix,
    w_uk: &Matrix,
    w_uv: &Matrix,
    n_heads: usize,
) -> Absorbed;

/// Checks an answer.
pub fn check(answer: AttendLatent) -> ExitCode {
    EXERCISE.check(move |Input { q, latents, w_uk, w_uv, n_heads }| {
        answer(q, latents, w_uk, w_uv, *n_heads)
    })
}

const LATENT: Section = Section::new("variants", "Latent keys and values: MLA");

/// The exercise.
pub static EXERCISE: Exercise<Input, Absorbed> = Exercise {
    name: "latent_keys",
    title: "Latent keys",
    read: LATENT,
    begin: "one head, one query and one latent row: write q · (c U)ᵀ as a product of three, \
        and see which two of them know nothing of the token",
    print: "the absorbed query of head 1, and its scores",
    passed: "No key and no value was computed, and the outputs are those of a layer that \
        computes them all. What a cache keeps is r numbers a token.",
    cases,
    reference: Input::right,
    mistakes: mistakes::ALL,
    place: |input, Place { part, row, column }| {
        let width = if part == 0 { input.r() } else { input.d_v() };
        let what = ["absorbed query", "the absorbed queries are right; output"][part];
        format!("{what} {row}, head {}, entry {}", column / width, column % width)
    },
};

fn cases() -> Vec<Case<Input>> {
    let case = |[n_q, n_kv, n_heads]: [usize; 3],
                [d_k, d_v, r]: [usize; 3],
                seed: u64| Case {
        sizes: format!(
            "{n_q} queries, {n_kv} tokens, {n_heads} heads, d_k {d_k}, d_v {d_v}, r {r}"
        ),
        square: d_k == d_v && d_v == r,
        input: Input {
            q: inputs::matrix(n_q, n_heads * d_k, seed),
            latents: inputs::matrix(n_kv, r, seed + 1),
            w_uk: inputs::matrix(r, n_heads * d_k, seed + 2),
            w_uv: inputs::matrix(r, n_heads * d_v, seed + 3),
            n_heads,
        },
    };
    vec![
        case([2, 3, 2], [2, 2, 2], 1),
        case([3, 5, 2], [3, 3, 4], 10),
        case([1, 4, 3], [4, 2, 6], 20),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    /// With W_uv at the end for all heads, and in f32.
    #[test]
    fn averages_first_and_values_last_in_f32_pass() {
        let in_f32 = |input: &Input| {
            let [q, c, u, v] = [&input.q, &input.latents, &input.w_uk, &input.w_uv]
                .map(|m| m.map(|x| x as f32));
            let (d_k, d_v) = (input.d_k(), input.d_v());
            let queries: Vec<Matrix<f32>> = (0..input.n_heads)
                .map(|i| q.columns(i * d_k, d_k) * u.columns(i * d_k, d_k).transpose())
                .collect();
            let averages: Vec<Matrix<f32>> = queries
                .iter()
                .map(|a| softmax_rows(a * c.transpose() / (d_k as f32).sqrt()) * &c)
                .collect();
            input.joined(
                |i| queries[i].map(f64::from),
                |i| (&averages[i] * v.columns(i * d_v, d_v)).map(f64::from),
            )
        };
        assert_eq!(EXERCISE.diagnose(in_f32), Verdict::Passed);
    }
}
