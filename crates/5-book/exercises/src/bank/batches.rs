//! Sequences of different lengths in one batch, through one head.

use std::process::ExitCode;

use attention::{HeadParameters, Linear, Mask, Matrix};

use super::inputs;
use crate::{Case, Exercise, Place, Section};

mod mistakes;

/// A batch: sequences one below the other, and how many keys of each are real.
pub struct Input {
    q: Matrix,
    k: Matrix,
    v: Matrix,
    n_sequences: usize,
    n_valid: Vec<usize>,
}

impl Input {
    fn n_q(&self) -> usize {
        self.q.nrows() / self.n_sequences
    }

    fn n_kv(&self) -> usize {
        self.k.nrows() / self.n_sequences
    }

    /// Each sequence by itself under the mask `mask(s)`. `row(s, token, n_tokens)` says
    /// where its tokens lie.
    fn each(
        &self,
        row: impl Fn(usize, usize, usize) -> usize,
        mask: impl Fn(usize) -> Mask,
    ) -> Matrix {
        let mut out = Matrix::zeros(self.q.nrows(), self.v.ncols());
        for s in 0..self.n_sequences {
            let rows = |n| (0..n).map(|token| row(s, token, n)).collect::<Vec<_>>();
            let (q_rows, kv_rows) = (rows(self.n_q()), rows(self.n_kv()));
            let [k, v] = [&self.k, &self.v].map(|all| all.select_rows(&kv_rows));
            let out_s = attend(&self.q.select_rows(&q_rows), &k, &v, &mask(s));
            for (&row, token) in q_rows.iter().zip(out_s.row_iter()) {
                out.row_mut(row).copy_from(&token);
            }
        }
        out
    }

    /// Right, but for the queries: those of sequence s begin at row `first(s)`.
    fn with_queries(&self, first: impl Fn(usize) -> usize) -> Matrix {
        let n_q = self.n_q();
        let rows = (0..self.n_sequences).flat_map(|s| first(s)..first(s) + n_q);
        let q = self.q.select_rows(&rows.collect::<Vec<_>>());
        self.of([&q, &self.k, &self.v])
    }

    /// Keys or values of all sequences, those of sequence s from row s on.
    fn overlapping(&self, x: &Matrix) -> Matrix {
        let n_kv = self.n_kv();
        let rows = (0..self.n_sequences).flat_map(|s| s..s + n_kv);
        x.select_rows(&rows.collect::<Vec<_>>())
    }

    /// Right for these queries, keys and values.
    fn of(&self, qkv: [&Matrix; 3]) -> Matrix {
        let [q, k, v] = qkv.map(Matrix::clone);
        (EXERCISE.reference)(&Input { q, k, v, n_valid: self.n_valid.clone(), ..*self })
    }

    /// Right, but for the scores, all of which are multiplied.
    fn scaled(&self, by: f64) -> Matrix {
        let [k, v] = [&self.k, &self.v].map(Matrix::clone);
        let scaled =
            Input { q: &self.q * by, k, v, n_valid: self.n_valid.clone(), ..*self };
        (EXERCISE.reference)(&scaled)
    }

    /// Each sequence by itself; query `i` of sequence `s` may attend to key `j` where
    /// `may_attend(s, i, j)`.
    fn masked(&self, may_attend: impl Fn(usize, usize, usize) -> bool) -> Matrix {
        let shape = (self.n_q(), self.n_kv());
        let mask = |s| Matrix::from_fn(shape.0, shape.1, |i, j| may_attend(s, i, j));
        self.each(one_below_the_other, |s| Mask::Allowed(mask(s)))
    }
}

/// What the reader writes: from `q`, `[n_sequences · n_q, d_k]`, `k`,
/// `[n_sequences · n_kv, d_k]`, and `v`, `[n_sequences · n_kv, d_v]`, the outputs of one
/// head, `[n_sequences · n_q, d_v]`.
pub type AttendBatch = fn(
    q: &Matrix,
    k: &Matrix,
    v: &Matrix,
    n_sequences: usize,
    n_valid: &[usize],
) -> Matrix;

/// Checks an answer.
pub fn check(answer: AttendBatch) -> ExitCode {
    EXERCISE.check(move |Input { q, k, v, n_sequences, n_valid }| {
        answer(q, k, v, *n_sequences, n_valid)
    })
}

const BATCHES: Section = Section::new("one-matrix-many-heads", "Batches");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "batches",
    title: "Batches",
    read: BATCHES,
    begin: "the length of one sequence: the rows of q shared out among n_sequences, and \
        the rows of k likewise. Then attend within sequence 0 alone",
    print: "the scores and shares of one sequence",
    passed: "No token reads another sequence, and none reads padding. Each sequence gets \
        what it would get by itself.",
    cases,
    reference: |input| {
        input.each(one_below_the_other, |s| Mask::FirstKeys(input.n_valid[s]))
    },
    mistakes: mistakes::ALL,
    place: |input, Place { row, column, .. }| {
        let (sequence, token) = (row / input.n_q(), row % input.n_q());
        format!("sequence {sequence}, token {token}, feature {column}")
    },
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_valid: &[usize],
                [n_q, n_kv]: [usize; 2],
                [d_k, d_v]: [usize; 2],
                seed| {
        let n_sequences = n_valid.len();
        Case {
            sizes: format!(
                "{n_sequences} sequences, n_q {n_q}, n_kv {n_kv}, d_k {d_k}, d_v {d_v}, \
                 n_valid {n_valid:?}"
            ),
            square: n_q == n_kv && d_k == d_v,
            input: Input {
                q: inputs::matrix(n_sequences * n_q, d_k, seed),
                k: inputs::matrix(n_sequences * n_kv, d_k, seed + 1),
                v: inputs::matrix(n_sequences * n_kv, d_v, seed + 2),
                n_sequences,
                n_valid: n_valid.to_vec(),
            },
        }
    };
    let mut nan = case(&[3, 2], [2, 4], [3, 3], 10);
    nan.sizes += ", all padding is NaN";
    for row in [3, 6, 7] {
        nan.input.k.row_mut(row).fill(f64::NAN);
        nan.input.v.row_mut(row).fill(f64::NAN);
    }
    vec![
        case(&[2, 3], [3, 3], [2, 2], 1),
        case(&[2, 4, 1], [2, 4], [3, 5], 4),
        case(&[1, 3], [5, 3], [4, 2], 7),
        nan,
    ]
}

fn one_below_the_other(s: usize, token: usize, n_tokens: usize) -> usize {
    s * n_tokens + token
}

/// The head of `single-head`, its projections set so that they change nothing.
fn attend(q: &Matrix, k: &Matrix, v: &Matrix, mask: &Mask) -> Matrix {
    let same = |width| Linear { weight: Matrix::identity(width, width), bias: None };
    let [w_q, w_k, w_v] = [q, k, v].map(|x| same(x.ncols()));
    let head = HeadParameters { w_q, w_k, w_v };
    single_head::attend(&head, q, k, v, mask).expect("the widths fit").out
}

#[cfg(test)]
mod tests {
    use attention::{softmax_rows, weighted_values};

    use super::*;
    use crate::{Difference, Verdict};

    /// Query by query over the real keys only, for sequences with so many keys.
    fn in_loops(input: &Input, n_kv: usize) -> Matrix {
        let Input { q, k, v, n_valid, .. } = input;
        let sqrt_d_k = (q.ncols() as f64).sqrt();
        let mut out = Matrix::zeros(q.nrows(), v.ncols());
        for row in 0..q.nrows() {
            let s = row / input.n_q();
            let mut sum = 0.0;
            for j in (s * n_kv..s * n_kv + n_valid[s]).rev() {
                let share = (q.row(row).dot(&k.row(j)) / sqrt_d_k).exp();
                out.row_mut(row).zip_apply(&v.row(j), |out, v| *out += share * v);
                sum += share;
            }
            out.row_mut(row).unscale_mut(sum);
        }
        out
    }

    #[test]
    fn right_answers_written_otherwise_pass() {
        let loops = |input: &Input| in_loops(input, input.n_kv());
        assert_eq!(EXERCISE.diagnose(loops), Verdict::Passed);
        // One map for the whole batch in f32, other sequences and padding blocked.
        let one_map = |input: &Input| {
            let [q, k, v] = [&input.q, &input.k, &input.v].map(|x| x.map(|x| x as f32));
            let scores = &q * k.transpose() / (q.ncols() as f32).sqrt();
            let mask = Matrix::from_fn(q.nrows(), k.nrows(), |i, j| {
                let s = i / input.n_q();
                j / input.n_kv() == s && j % input.n_kv() < input.n_valid[s]
            });
            let attn = softmax_rows(Mask::Allowed(mask).apply(scores));
            weighted_values(&attn, v.as_view()).map(f64::from)
        };
        assert_eq!(EXERCISE.diagnose(one_map), Verdict::Passed);
        // Each sequence cut to its length, where plain products meet no padding.
        let cut = |Input { q, k, v, n_sequences, n_valid }: &Input| {
            let (n_q, n_kv) = (q.nrows() / n_sequences, k.nrows() / n_sequences);
            let blocks = n_valid.iter().enumerate().flat_map(|(s, &n)| {
                let scores = q.rows(s * n_q, n_q) * k.rows(s * n_kv, n).transpose();
                let attn = softmax_rows(scores / (q.ncols() as f64).sqrt());
                let out = attn * v.rows(s * n_kv, n);
                out.row_iter().map(|row| row.into_owned()).collect::<Vec<_>>()
            });
            Matrix::from_rows(&blocks.collect::<Vec<_>>())
        };
        assert_eq!(EXERCISE.diagnose(cut), Verdict::Passed);
    }

    #[test]
    fn queries_counted_for_keys_are_right_only_where_they_are_as_many() {
        let verdict = EXERCISE.diagnose(|input| in_loops(input, input.n_q()));
        assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
    }

    #[test]
    fn a_panic_is_told_and_not_guessed_at() {
        let verdict = EXERCISE.diagnose(|input| in_loops(input, input.k.nrows()));
        let Verdict::Unknown { difference: Difference::Panic { .. }, .. } = verdict
        else {
            panic!("{verdict:?}");
        };
    }
}
