//! Of the chapter on one matrix for many heads.

use std::process::ExitCode;

use attention::{HeadParameters, LayerParameters, Linear, Matrix, Rng, SeedableRng};

use super::{place, random};
use crate::{Case, Exercise, Place, arrays};

/// The heads' projections side by side: `W^Q = [W_1^Q | … | W_h^Q]`.
pub mod packing {
    use super::*;

    /// The heads of a layer.
    pub struct Input {
        heads: Vec<HeadParameters>,
    }

    arrays!(Input: heads);

    pub(crate) static EXERCISE: Exercise<Input, Linear> =
        Exercise::new("packing", cases, place);

    /// Checks what gives one projection `[d_model, h · d_k]` of h heads, whose W^Q is
    /// `[d_model, d_k]`.
    pub fn check(answer: fn(heads: &[HeadParameters]) -> Linear) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.heads))
    }

    fn place(input: &Input, Place { part, row, column }: Place) -> String {
        let d_k = input.heads[0].w_q.d_out();
        let (head, c) = (column / d_k, column % d_k);
        match part {
            0 => format!("weight, row {row}, column {column} (head {head}, column {c})"),
            _ => format!("bias, entry {column} (head {head}, entry {c})"),
        }
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |d_model, n_heads, d_k, key_width, bias: bool, own: u64| {
            let dims = random::dims(d_model, n_heads, d_k, d_k);
            let dims =
                dims.with_source_widths(key_width, key_width).expect("no size is 0");
            let biases = if bias { "with" } else { "without" };
            let mut rng = Rng::seed_from_u64(seed + own);
            Case {
                sizes: format!(
                    "d_model {d_model}, {n_heads} heads, d_k {d_k}, {biases} biases"
                ),
                square: n_heads * d_k == d_model,
                input: Input {
                    heads: LayerParameters::random(dims, bias, &mut rng).heads().to_vec(),
                },
            }
        };
        vec![
            case(4, 2, 2, 4, true, 1),
            case(5, 3, 2, 7, true, 2),
            case(3, 2, 4, 3, false, 3),
        ]
    }
}

/// Heads as blocks of columns of one wide projection.
pub mod columns_as_heads {
    use super::*;

    /// One wide projection, and the number of heads in it.
    pub struct Input {
        q: Matrix,
        n_heads: usize,
    }

    arrays!(Input: q, n_heads);

    pub(crate) static EXERCISE: Exercise<Input, Vec<Matrix>> =
        Exercise::new("columns_as_heads", cases, place::head_token_feature);

    /// Checks what gives one `[n_tokens, d_k]` a head of `q`, `[n_tokens, h · d_k]`.
    pub fn check(answer: fn(q: &Matrix, n_heads: usize) -> Vec<Matrix>) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.q, input.n_heads))
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_tokens: usize, n_heads: usize, d_k: usize, own: u64| Case {
            sizes: format!("{n_tokens} tokens, {n_heads} heads, d_k {d_k}"),
            square: n_tokens == n_heads && n_heads == d_k,
            input: Input {
                q: random::matrix(n_tokens, n_heads * d_k, seed + own),
                n_heads,
            },
        };
        vec![case(3, 3, 3, 1), case(5, 2, 4, 2), case(4, 6, 2, 3)]
    }
}

/// Sequences of different lengths in one batch, through one head.
pub mod batches {
    use super::*;

    /// A batch: sequences stacked in one matrix, and how many keys of each are real.
    pub struct Input {
        q: Matrix,
        k: Matrix,
        v: Matrix,
        n_sequences: usize,
        n_valid: Vec<usize>,
    }

    arrays!(Input: q, k, v, n_sequences, n_valid);

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("batches", cases, place);

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

    fn place(input: &Input, Place { row, column, .. }: Place) -> String {
        let n_q = input.q.nrows() / input.n_sequences;
        format!("sequence {}, token {}, feature {column}", row / n_q, row % n_q)
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_valid: &[usize],
                    [n_q, n_kv]: [usize; 2],
                    [d_k, d_v]: [usize; 2],
                    own: u64| {
            let n_sequences = n_valid.len();
            Case {
                sizes: format!(
                    "{n_sequences} sequences, n_q {n_q}, n_kv {n_kv}, d_k {d_k}, \
                     d_v {d_v}, n_valid {n_valid:?}"
                ),
                square: n_q == n_kv && d_k == d_v,
                input: Input {
                    q: random::matrix(n_sequences * n_q, d_k, seed + own),
                    k: random::matrix(n_sequences * n_kv, d_k, seed + own + 1),
                    v: random::matrix(n_sequences * n_kv, d_v, seed + own + 2),
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
        // Here all scores are numbers: adding a mask to them is right, and multiplying a
        // weight of 0 by the value is not.
        let mut nan_values = case(&[2, 3], [3, 4], [2, 3], 13);
        nan_values.sizes += ", the values of all padding are NaN";
        for row in [2, 3, 7] {
            nan_values.input.v.row_mut(row).fill(f64::NAN);
        }
        vec![
            case(&[2, 3], [3, 3], [2, 2], 1),
            case(&[2, 4, 1], [2, 4], [3, 5], 4),
            case(&[1, 3], [5, 3], [4, 2], 7),
            nan,
            nan_values,
            case(&[3, 2], [2, 4], [3, 2], 16), // no sequence is as long as n_kv
        ]
    }
}
