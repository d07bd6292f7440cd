//! Of the chapter on many machines.

use std::ops::Range;
use std::process::ExitCode;

use attention::{Linear, Matrix};

use super::{place, random};
use crate::array::Several;
use crate::{Answer, Array, Arrays, Case, Exercise, Place, arrays};

/// One rank's part of a layer whose heads are on several, and b^O once.
pub mod part_of_sum {
    use super::*;

    /// What all heads put out, W^O, and the number of ranks.
    pub struct Input {
        heads: Vec<Matrix>,
        w_o: Linear,
        n_ranks: usize,
    }

    arrays!(Input: heads, w_o, n_ranks);

    /// The part of each rank.
    pub struct Parts(Vec<Matrix>);

    /// What a rank's heads write, and then the sum. A rank's rows are taken less its first: b^O
    /// is the same in all of them, so it is seen in the sum alone, and any rank may add it.
    impl Answer for Parts {
        fn parts(&self) -> Vec<Matrix> {
            let Self(parts) = self;
            let less_its_first_row = |part: &Matrix| {
                Matrix::from_fn(part.nrows(), part.ncols(), |i, c| {
                    part[(i, c)] - part[(0, c)]
                })
            };
            // Of parts of different shapes there is no sum.
            let is_like_first = |part: &Matrix| part.shape() == parts[0].shape();
            let sum = match parts.iter().all(is_like_first) {
                true => parts.iter().sum(),
                false => Matrix::zeros(0, 0),
            };
            parts.iter().map(less_its_first_row).chain([sum]).collect()
        }

        fn label(part: usize, n_parts: usize) -> String {
            if part + 1 < n_parts {
                format!("rank {part}")
            } else {
                "the sum of all ranks".into()
            }
        }
    }

    pub(crate) static EXERCISE: Exercise<Input, Parts> =
        Exercise::new("part_of_sum", cases, |input, Place { part, row, column }| {
            if part == input.n_ranks {
                format!("the sum of all ranks, token {row}, feature {column}")
            } else {
                format!(
                    "rank {part}, feature {column}, token {row} less token 0, where b^O \
                     cancels"
                )
            }
        });

    /// Checks what gives, from h outputs, `[n_tokens, d_v]` each, and W^O,
    /// `[h · d_v, d_model]`, the part of a rank, `[n_tokens, d_model]`.
    pub fn check(
        answer: fn(heads: &[Matrix], w_o: &Linear, n_ranks: usize, rank: usize) -> Matrix,
    ) -> ExitCode {
        EXERCISE.check(move |Input { heads, w_o, n_ranks }| {
            Parts((0..*n_ranks).map(|rank| answer(heads, w_o, *n_ranks, rank)).collect())
        })
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_ranks, n_heads, sizes: [usize; 3], own: u64| {
            let [n_tokens, d_v, d_model] = sizes;
            let ranks = if n_ranks == 1 { "rank" } else { "ranks" };
            let head = |i| random::matrix(n_tokens, d_v, seed + 100 * own + i);
            let dims = random::dims(d_model, n_heads, d_v, d_v);
            Case {
                sizes: format!(
                    "{n_ranks} {ranks}, {n_heads} heads, {n_tokens} tokens, d_v {d_v}, \
                     d_model {d_model}"
                ),
                square: n_heads * d_v == d_model,
                input: Input {
                    heads: (0..n_heads as u64).map(head).collect(),
                    w_o: random::layer(dims, seed + own).w_o().clone(),
                    n_ranks,
                },
            }
        };
        vec![
            case(1, 3, [3, 2, 5], 1),
            case(2, 4, [3, 2, 8], 2),
            case(2, 4, [4, 3, 5], 3),
            case(3, 7, [3, 2, 9], 4),
            case(5, 7, [3, 3, 4], 5),
            case(4, 2, [3, 2, 7], 6),
        ]
    }
}

/// Pieces of a softmax: what one query has made of several blocks of keys, merged.
pub mod pieces {
    use super::*;

    /// What a query has made of one block of keys.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Piece {
        /// The largest score of the block; −∞ where a mask blocks all of its keys.
        pub m: f64,
        /// The sum of `exp(score − m)` over the keys of the block.
        pub l: f64,
        /// The sum of `exp(score − m) · value` over the keys of the block, d_v entries.
        pub o: Vec<f64>,
    }

    impl Several for Piece {}

    impl Arrays for Piece {
        fn arrays(&self, name: &str) -> Vec<Array> {
            let numbers = [("m", self.m), ("l", self.l)];
            let numbers = numbers.map(|(part, x)| x.arrays(&format!("{name}.{part}")));
            [numbers.concat(), self.o.arrays(&format!("{name}.o"))].concat()
        }
    }

    /// The pieces that one query collects.
    pub struct Input {
        pieces: Vec<Piece>,
    }

    arrays!(Input: pieces);

    pub(crate) static EXERCISE: Exercise<Input, Vec<f64>> =
        Exercise::new("pieces", cases, place::feature);

    /// Checks what gives, from all pieces of a query, at least one, the head's output for this
    /// query, d_v entries.
    pub fn check(answer: fn(pieces: &[Piece]) -> Vec<f64>) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.pieces))
    }

    /// One piece of a block's scores, with the values from row `before` on.
    fn piece(scores: &[f64], values: &Matrix, before: usize) -> Piece {
        let m = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let exp = |score: &f64| if m.is_finite() { (score - m).exp() } else { 0.0 };
        let exps = Matrix::from_iterator(1, scores.len(), scores.iter().map(exp));
        let o = &exps * values.rows(before, scores.len());
        Piece { m, l: exps.sum(), o: o.as_slice().to_vec() }
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |blocks: &[&[f64]], d_v: usize, note: &str, own: u64| {
            let values = random::matrix(blocks.concat().len(), d_v, seed + own);
            let before = |nth: usize| blocks[..nth].concat().len();
            let each = blocks.iter().enumerate();
            let s = if blocks.len() == 1 { "" } else { "s" };
            Case {
                sizes: format!("{} piece{s}, d_v {d_v}; {note}", blocks.len()),
                square: false,
                input: Input {
                    pieces: each
                        .map(|(nth, scores)| piece(scores, &values, before(nth)))
                        .collect(),
                },
            }
        };
        let none: &[f64] = &[f64::NEG_INFINITY; 2];
        let of_eight: [&[f64]; 8] = [
            &[0.3, -1.0],
            &[1.2],
            &[-0.8, -0.5, -2.0],
            &[2.1, 0.4],
            &[0.9, 1.6],
            &[-1.4],
            &[2.6, 2.2],
            &[0.1, 1.0],
        ];
        let falling: [&[f64]; 4] = [&[2.5, 1.0], &[1.8], &[0.2, 1.1, 0.7], &[-0.4, -1.0]];
        let half_blocked = &[1.5, f64::NEG_INFINITY];
        vec![
            case(&[&[-1.0, 0.5], &[1.5, 1.0, 0.0]], 2, "m rises", 1),
            case(&falling, 3, "m falls", 2),
            case(&of_eight, 2, "m rises and falls", 3),
            case(&[&[0.5, 1.5, -1.0]], 3, "all keys on one rank", 4),
            case(
                &[none, &[0.5, 1.0], none, half_blocked],
                2,
                "pieces 0 and 2 saw no key",
                5,
            ),
            case(&[none, none, &[0.5, -0.5]], 2, "pieces 0 and 1 saw no key", 6),
            case(&[&[0.5, 1.5], none, &[1.0]], 2, "piece 1 saw no key", 12),
            case(&[&[1000.0, 999.0], &[1001.0], &[999.5]], 2, "m near 1000", 7),
            case(&[&[-1000.0, -1001.0], &[-999.0], &[-999.5]], 2, "m near −1000", 8),
            case(&[&[-1000.0, -999.0], &[1.0, 0.0]], 2, "m −999 and 1", 13),
            case(
                &[&[-1000.0], &[0.0, 1.0], &[1000.0, 999.0]],
                2,
                "m from −1000 to 1000",
                9,
            ),
            case(&[&[1000.0, 999.0], &[0.0], &[-1000.0]], 2, "m from 1000 to −1000", 10),
            case(&[none, none], 2, "no piece saw a key", 11),
        ]
    }
}

/// A causal mask on a ring: queries of one rank, and keys that come from another.
pub mod ring_mask {
    use super::*;

    /// The positions of some queries and of some keys in one sequence.
    pub struct Input {
        queries: Vec<Range<usize>>,
        keys: Vec<Range<usize>>,
    }

    arrays!(Input: queries, keys);

    impl Several for Range<usize> {}

    /// Where it begins, and where it ends.
    impl Arrays for Range<usize> {
        fn arrays(&self, name: &str) -> Vec<Array> {
            [self.start, self.end].as_slice().arrays(name)
        }
    }

    /// A row for each query, none of them nearly right.
    impl Answer for Vec<Vec<bool>> {
        const TOLERANCE: f64 = 0.0;

        fn parts(&self) -> Vec<Matrix> {
            let row = |row: &Vec<bool>| {
                Matrix::from_fn(1, row.len(), |_, key| f64::from(u8::from(row[key])))
            };
            self.iter().map(row).collect()
        }

        fn count(n_parts: usize) -> String {
            match n_parts {
                1 => "1 row".into(),
                n => format!("{n} rows"),
            }
        }

        fn label(part: usize, _: usize) -> String {
            format!("row {part} (counted from 0)")
        }
    }

    pub(crate) static EXERCISE: Exercise<Input, Vec<Vec<bool>>> =
        Exercise::new("ring_mask", cases, |input, Place { part, column, .. }| {
            let position = |ranges: &[Range<usize>], at: usize| {
                ranges.iter().cloned().flatten().nth(at).unwrap_or(at)
            };
            let (i, j) = (position(&input.queries, part), position(&input.keys, column));
            format!(
                "row {part}, column {column} (query {i}, key {j}; 1 is true, 0 is false)"
            )
        });

    /// From the positions of queries and keys, a row for each query.
    type MayAttend =
        fn(queries: &[Range<usize>], keys: &[Range<usize>]) -> Vec<Vec<bool>>;

    /// Checks what gives, from the positions of n_q queries and of n_kv keys, n_q rows of n_kv
    /// entries.
    pub fn check(answer: MayAttend) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.queries, &input.keys))
    }

    fn cases(_seed: u64) -> Vec<Case<Input>> {
        let case =
            |queries: &[Range<usize>], keys: &[Range<usize>], n_tokens: usize| Case {
                sizes: format!("{n_tokens} tokens, queries {queries:?}, keys {keys:?}"),
                square: false,
                input: Input { queries: queries.to_vec(), keys: keys.to_vec() },
            };
        let [rank_0, rank_1] = [[0..2, 6..8], [2..4, 4..6]];
        let [long_0, long_1] = [[0..3, 8..10], [3..6, 6..8]];
        let [of_three_0, of_three_2] = [[0..2, 6..7], [3..4, 4..5]];
        vec![
            case(&[0..2, 2..4], &[0..2, 2..4], 4),
            case(&rank_0, &rank_0, 8),
            case(&rank_0, &rank_1, 8),
            case(&rank_1, &rank_0, 8),
            case(&rank_1, &rank_1, 8),
            case(&long_0, &long_1, 10),
            case(&long_1, &long_0, 10),
            case(&long_0, &long_0, 10),
            case(&of_three_2, &of_three_0, 7),
            case(&of_three_0, &of_three_2, 7),
            case(&[0..4, 12..16], &[2..4, 14..16], 16),
            case(&[0..4, 12..16], &[0..2, 12..14], 16),
            case(&[1..2, 2..3], &[0..1, 3..3], 3),
            case(&[0..1, 3..3], &[1..2, 2..3], 3),
            case(&[5..8, 0..2], &[6..8, 2..4], 8),
        ]
    }
}
