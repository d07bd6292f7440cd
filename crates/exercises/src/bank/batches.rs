//! Sequences of different lengths in one batch, through one head.

use std::process::ExitCode;

use attention::{HeadParameters, Linear, Mask, Matrix};

use super::inputs;
use crate::{Case, Exercise, Mistake, Place, Section};

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

const BATCHES: Section = Section::new("05-one-matrix-many-heads", "Batches");
const TWO_ROWS: Section =
    Section::new("07-masks-batches-bad-numbers", "A sentence with two rows too many");
const LENGTHS: Section = Section::new("07-masks-batches-bad-numbers", "Batches");
const WRONG: Section =
    Section::new("07-masks-batches-bad-numbers", "What people get wrong");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "13_batches",
    title: "Batches",
    read: BATCHES,
    begin: "the length of one sequence: the rows of q shared out among n_sequences, and \
        the rows of k likewise. Then attend within sequence 0 alone",
    passed: "No token reads another sequence, and none reads padding. Each sequence gets \
        what it would get by itself.",
    cases,
    reference: |input| {
        input.each(one_below_the_other, |s| Mask::FirstKeys(input.n_valid[s]))
    },
    mistakes: &[
        Mistake {
            name: "lets all sequences attend to each other",
            does: "It scores every query against the real keys of the whole batch, so each \
                sequence averages over all of them",
            looks_right: "A projection may treat the batch as one long list of tokens, and \
                padding is blocked; but attention has to stay within a sequence",
            read: BATCHES,
            answer: all_together,
        },
        Mistake {
            name: "takes the batch for one long sequence",
            does: "It scores every query against every row of keys, those of other \
                sequences and the padding among them",
            looks_right: "It is the formula of one head, and the result has a row for each \
                query",
            read: BATCHES,
            answer: |Input { q, k, v, .. }| attend(q, k, v, &Mask::None),
        },
        Mistake {
            name: "takes the sequences as interleaved",
            does: "It looks for token t of sequence s in row t · n_sequences + s",
            looks_right: "Each sequence gets its number of rows, and none is used twice",
            read: BATCHES,
            answer: |input| {
                let row = |s, token, _| token * input.n_sequences + s;
                input.each(row, |s| Mask::FirstKeys(input.n_valid[s]))
            },
        },
        Mistake {
            name: "ignores the padding",
            does: "Every query reads all rows of its sequence, those that only fill it up \
                among them",
            looks_right: "Rows add up to 1, and a sequence without padding is right",
            read: TWO_ROWS,
            answer: |input| input.masked(|_, _, _| true),
        },
        Mistake {
            name: "blocks the padding of the first sequence in all of them",
            does: "It makes one mask from n_valid[0] and uses it for every sequence",
            looks_right: "Sequence 0 is right, and one mask for all has the right shape",
            read: LENGTHS,
            answer: |input| input.masked(|_, _, j| j < input.n_valid[0]),
        },
        Mistake {
            name: "repeats the lengths in the wrong order",
            does: "It deals the lengths out row by row of the batch, 0 1 0 1, where all \
                queries of one sequence need the same one, 0 0 1 1",
            looks_right: "The list of lengths is as long as the batch has rows",
            read: WRONG,
            answer: |input| {
                let length = |row: usize| input.n_valid[row % input.n_sequences];
                input.masked(|s, i, j| j < length(s * input.n_q() + i))
            },
        },
        Mistake {
            name: "blocks the queries of the padding and not its keys",
            does: "From n_valid[s] on, the queries of sequence s get zeros, and all others \
                still read the padding",
            looks_right: "The rows of the padding are empty, as if nobody used them",
            read: WRONG,
            answer: |input| input.masked(|s, i, _| i < input.n_valid[s]),
        },
    ],
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
    vec![
        case(&[3, 2], [3, 3], [2, 2], 1),
        case(&[2, 4, 1], [2, 4], [3, 5], 4),
        case(&[1, 3], [5, 3], [4, 2], 7),
    ]
}

fn one_below_the_other(s: usize, token: usize, n_tokens: usize) -> usize {
    s * n_tokens + token
}

fn all_together(Input { q, k, v, n_sequences, n_valid }: &Input) -> Matrix {
    let n_kv = k.nrows() / n_sequences;
    let is_real = |row: usize| row % n_kv < n_valid[row / n_kv];
    let real: Vec<bool> = (0..k.nrows()).map(is_real).collect();
    attend(q, k, v, &Mask::Keys(real))
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
            let attn = attention::softmax_rows(Mask::Allowed(mask).apply(scores));
            (attn * v).map(f64::from)
        };
        assert_eq!(EXERCISE.diagnose(one_map), Verdict::Passed);
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
