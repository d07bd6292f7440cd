//! Sequences of different lengths in one batch, through one head.

use std::process::ExitCode;

use attention::{HeadParameters, Linear, Mask, Matrix, softmax_rows};

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

const BATCHES: Section = Section::new("05-one-matrix-many-heads", "Batches");
const TWO_ROWS: Section = Section::new("07-masks", "A sentence with two rows too many");
const LENGTHS: Section = Section::new("07-masks", "Batches");
const WRONG: Section = Section::new("07-masks", "What people get wrong");
const BEFORE: Section = Section::new("07-masks", "The mask comes before softmax");
const NAN: Section = Section::new("08-bad-numbers", "How far a NaN gets");
const SCALE: Section = Section::new("02-scores-softmax-scale", "Why divide by √d_k");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "13_batches",
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
            name: "takes the sequences to lie without their padding",
            does: "It looks for the keys of sequence s behind the real keys of those \
                before it, at n_valid[0] + n_valid[1] + …, and every sequence is filled \
                up to n_kv rows",
            looks_right: "The lengths are used, each once, and where the sequences \
                before have no padding it is right",
            read: LENGTHS,
            answer: without_gaps,
        },
        Mistake {
            name: "does not divide the scores by √d_k",
            does: "Softmax gets the bare dot products, and rows come out too sharp",
            looks_right: "Every output is an average of the real values of its own \
                sequence",
            read: SCALE,
            answer: |input| input.scaled((input.q.ncols() as f64).sqrt()),
        },
        Mistake {
            name: "divides the scores by d_k and not by its root",
            does: "The spread of the scores falls to 1/√d_k, so rows come out too even",
            looks_right: "A sum of d_k products divided by d_k is their mean",
            read: SCALE,
            answer: |input| input.scaled(1.0 / (input.q.ncols() as f64).sqrt()),
        },
        Mistake {
            name: "masks after the softmax",
            does: "It sets the shares of the padding to 0 when they have already taken \
                their part, so a row sums to less than 1; and padding that is NaN \
                takes the row",
            looks_right: "The padding has a share of 0, and a sequence without padding \
                is right",
            read: BEFORE,
            answer: masked_after_softmax,
        },
        Mistake {
            name: "lets the values of the padding in",
            does: "It multiplies the whole map by the values. Where a value of the \
                padding is NaN or ∞, its share of 0 times that is NaN, in every row",
            looks_right: "Without NaN it is the same: a share of 0 adds nothing",
            read: NAN,
            answer: |input| plain_product(input),
        },
        Mistake {
            name: "ignores the padding",
            does: "Every query reads all rows of its sequence, those that only fill it up \
                among them",
            looks_right: "Rows sum to 1, and a sequence without padding is right",
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

/// Each sequence by itself, and the map of each from its scores and its length.
fn by_maps(input: &Input, map: fn(Matrix, usize) -> Matrix) -> Matrix {
    let (n_q, n_kv) = (input.n_q(), input.n_kv());
    let mut out = Matrix::zeros(input.q.nrows(), input.v.ncols());
    for (s, &n_valid) in input.n_valid.iter().enumerate() {
        let (k, v) = (input.k.rows(s * n_kv, n_kv), input.v.rows(s * n_kv, n_kv));
        let scores = input.q.rows(s * n_q, n_q) * k.transpose();
        let attn = map(scores / (input.q.ncols() as f64).sqrt(), n_valid);
        out.rows_mut(s * n_q, n_q).copy_from(&(attn * v));
    }
    out
}

fn plain_product(input: &Input) -> Matrix {
    by_maps(input, |scores, n_valid| softmax_rows(Mask::FirstKeys(n_valid).apply(scores)))
}

fn masked_after_softmax(input: &Input) -> Matrix {
    by_maps(input, |scores, n_valid| {
        let mut attn = softmax_rows(scores);
        attn.columns_range_mut(n_valid..).fill(0.0);
        attn
    })
}

fn without_gaps(input: &Input) -> Matrix {
    let n_q = input.n_q();
    let (mut out, mut begin) = (Matrix::zeros(input.q.nrows(), input.v.ncols()), 0);
    for (s, &n_valid) in input.n_valid.iter().enumerate() {
        let [k, v] = [&input.k, &input.v].map(|m| m.rows(begin, n_valid).into_owned());
        let q = input.q.rows(s * n_q, n_q).into_owned();
        out.rows_mut(s * n_q, n_q).copy_from(&attend(&q, &k, &v, &Mask::None));
        begin += n_valid;
    }
    out
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
    use attention::weighted_values;

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
