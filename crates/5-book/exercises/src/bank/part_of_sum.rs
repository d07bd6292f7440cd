//! One rank's part of a layer whose heads are on several, and b^O once.

use std::ops::Range;
use std::process::ExitCode;

use attention::{Linear, Matrix};

use super::heads;
use crate::{Answer, Case, Exercise, Mistake, Place, Section};

mod bias;
mod blocks;
mod means;
mod shares;
#[cfg(test)]
mod tests;

/// What all heads put out, W^O, and the number of ranks.
pub struct Input {
    heads: Vec<Matrix>,
    w_o: Linear,
    n_ranks: usize,
}

/// The part of each rank.
pub struct Parts(Vec<Matrix>);

/// What a rank's heads write, and then the sum. A rank's rows are taken less its first: b^O
/// is the same in all of them, so it is seen in the sum alone, and any rank may add it.
impl Answer for Parts {
    fn parts(&self) -> Vec<Matrix> {
        let Self(parts) = self;
        let mut all: Vec<Matrix> = parts.iter().map(less_its_first_row).collect();
        all.push(sum(parts));
        all
    }

    fn part_name(&self, part: usize) -> String {
        format!("rank {part}")
    }
}

fn less_its_first_row(part: &Matrix) -> Matrix {
    Matrix::from_fn(part.nrows(), part.ncols(), |i, c| part[(i, c)] - part[(0, c)])
}

/// As an all-reduce gives it, and empty for parts of different shapes.
fn sum(parts: &[Matrix]) -> Matrix {
    let shape = parts.first().map_or((0, 0), Matrix::shape);
    let shape = if parts.iter().all(|it| it.shape() == shape) { shape } else { (0, 0) };
    parts
        .iter()
        .filter(|part| part.shape() == shape)
        .fold(Matrix::zeros(shape.0, shape.1), |sum, part| sum + part)
}

/// The range of `rank` if the first ranks have one more where `n` is not divisible.
fn share(n: usize, n_ranks: usize, rank: usize) -> Range<usize> {
    let start = |rank: usize| rank * (n / n_ranks) + rank.min(n % n_ranks);
    start(rank)..start(rank + 1)
}

impl Input {
    fn n_heads(&self) -> usize {
        self.heads.len()
    }

    fn d_v(&self) -> usize {
        self.heads[0].ncols()
    }

    fn share(&self, rank: usize) -> Range<usize> {
        share(self.n_heads(), self.n_ranks, rank)
    }

    /// The part of each rank.
    fn each(&self, part: impl Fn(usize) -> Matrix) -> Parts {
        Parts((0..self.n_ranks).map(part).collect())
    }

    /// What some heads write if each meets the rows of W^O from this one on.
    fn written(
        &self,
        of: impl IntoIterator<Item = usize>,
        row: impl Fn(usize) -> usize,
    ) -> Matrix {
        let mut out = Matrix::zeros(self.heads[0].nrows(), self.w_o.d_out());
        for i in of {
            out += &self.heads[i] * self.w_o.weight.rows(row(i), self.d_v());
        }
        out
    }

    /// What some heads write with their own rows of W^O.
    fn written_by(&self, of: impl IntoIterator<Item = usize>) -> Matrix {
        self.written(of, |i| i * self.d_v())
    }

    /// The same, and b^O so many times.
    fn plus_bias(&self, mut out: Matrix, times: f64) -> Matrix {
        if let Some(b_o) = &self.w_o.bias {
            out.row_iter_mut().for_each(|mut token| token += b_o * times);
        }
        out
    }

    /// Rank 0 adds b^O, and what the ranks' heads write is given.
    fn with_bias_once(&self, written: impl Fn(usize) -> Matrix) -> Parts {
        self.each(|rank| self.plus_bias(written(rank), once(rank)))
    }

    /// Each rank has the right heads, and adds b^O so many times.
    fn with_bias(&self, times: impl Fn(usize) -> f64) -> Parts {
        self.each(|rank| self.plus_bias(self.written_by(self.share(rank)), times(rank)))
    }

    fn has_heads(&self, rank: usize) -> bool {
        !self.share(rank).is_empty()
    }
}

fn once(rank: usize) -> f64 {
    f64::from(u8::from(rank == 0))
}

/// What the reader writes: from h outputs, `[n_tokens, d_v]` each, and W^O,
/// `[h · d_v, d_model]`, what a rank adds to the layer's output, `[n_tokens, d_model]`.
pub type Part = fn(heads: &[Matrix], w_o: &Linear, n_ranks: usize, rank: usize) -> Matrix;

/// Checks an answer.
pub fn check(answer: Part) -> ExitCode {
    EXERCISE.check(move |input| {
        input.each(|rank| answer(&input.heads, &input.w_o, input.n_ranks, rank))
    })
}

const HEADS: Section = Section::new("many-machines", "Heads apart: tensor parallelism");
const AS_SUM: Section = Section::new("a-lens-per-head", "The same layer, as a sum");

type Named = Mistake<Input, Parts>;

/// The exercise. Its reference concatenates and cuts W^O into blocks of rows, with b^O on the
/// last rank that has heads.
pub static EXERCISE: Exercise<Input, Parts> = Exercise {
    name: "part_of_sum",
    title: "b^O once",
    read: HEADS,
    begin: "two ranks and four heads: which heads does rank 1 have, and which rows of W^O do \
        they meet? Then ask which rank adds b^O",
    print: "each rank's range of heads",
    passed: "One all-reduce makes the layer of all parts, with any number of ranks, and b^O \
        is in it once.",
    cases,
    reference: right,
    mistakes: &[
        bias::ON_EVERY_RANK,
        bias::ON_EVERY_RANK_WITH_HEADS,
        bias::ON_NO_RANK,
        bias::ON_THE_LAST_RANK_WITH_HEADS,
        bias::ON_RANK_1,
        bias::ONCE_PER_HEAD,
        bias::SHARED_OUT,
        bias::TO_TOKEN_0,
        shares::LEFT_OVER_DROPPED,
        shares::LEFT_OVER_TO_THE_LAST,
        shares::LEFT_OVER_TO_RANK_0,
        shares::ONE_MORE_FOR_THE_LAST,
        shares::BEGINNINGS_ROUNDED_DOWN,
        shares::AT_LEAST_ONE,
        shares::ROUNDED_UP,
        shares::ONE_BY_ONE,
        shares::HEADS_AT_A_MULTIPLE,
        shares::ROWS_AT_A_MULTIPLE,
        shares::FORGETS_THE_LEFT_OVER,
        shares::FROM_ITS_NUMBER,
        blocks::FROM_ROW_0,
        blocks::FIRST_BLOCK,
        blocks::OVERLAPPING,
        blocks::BLOCK_OF_ITS_FIRST_HEAD,
        blocks::COLUMNS,
        means::OVER_RANKS,
        means::OVER_RANKS_WITH_BIAS,
        means::OVER_HEADS,
        means::OVER_HEADS_OR_NAN,
        shares::ALL_HEADS,
        shares::WHOLE_LAYER,
        shares::ALL_ON_RANK_0,
        shares::LAST_HEAD_ALONE,
    ],
    place: |input, Place { part, row, column }| {
        if part == input.n_ranks {
            format!("the sum of all ranks, token {row}, feature {column}")
        } else {
            format!(
                "rank {part}, feature {column}, token {row} less token 0, where b^O cancels"
            )
        }
    },
};

/// A rank's columns of the heads side by side, times its rows of W^O.
fn right(input: &Input) -> Parts {
    let concat = heads::concat(&input.heads);
    let last = input.n_ranks.min(input.n_heads()) - 1;
    input.each(|rank| {
        let heads = input.share(rank);
        let (start, n) = (heads.start * input.d_v(), heads.len() * input.d_v());
        let written = concat.columns(start, n) * input.w_o.weight.rows(start, n);
        input.plus_bias(written, f64::from(u8::from(rank == last)))
    })
}

fn cases() -> Vec<Case<Input>> {
    let case = |n_ranks, n_heads, [n_tokens, d_v, d_model]: [usize; 3], seed| {
        let ranks =
            if n_ranks == 1 { "1 rank".into() } else { format!("{n_ranks} ranks") };
        Case {
            sizes: format!(
                "{ranks}, {n_heads} heads, {n_tokens} tokens, d_v {d_v}, d_model {d_model}"
            ),
            square: n_heads * d_v == d_model,
            input: Input {
                heads: heads::outputs(n_heads, n_tokens, d_v, seed),
                w_o: heads::mixer(n_heads, d_v, d_model, seed),
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
