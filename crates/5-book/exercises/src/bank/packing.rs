//! The heads' projections side by side: `W^Q = [W_1^Q | … | W_h^Q]`.

use std::process::ExitCode;

use attention::{HeadParameters, LayerParameters, Linear, Matrix, Rng, SeedableRng};

use super::inputs;
use crate::{Case, Exercise, Mistake, Place, Section};

/// A layer, head by head.
pub struct Input {
    layer: LayerParameters,
}

impl Input {
    fn n_heads(&self) -> usize {
        self.layer.heads().len()
    }

    fn d_k(&self) -> usize {
        self.layer.dims().d_k()
    }

    fn weights(&self) -> Vec<&Matrix> {
        self.layer.heads().iter().map(|head| &head.w_q.weight).collect()
    }

    /// The packed weight, filled row by row from a line of numbers.
    fn row_by_row(&self, line: impl IntoIterator<Item = f64>) -> Matrix {
        let width = self.n_heads() * self.d_k();
        Matrix::from_row_iterator(self.layer.dims().d_model(), width, line)
    }

    /// The packed bias, if there is one: entry `column` from `of(column)`, a head and a
    /// column of it.
    fn bias(&self, of: impl Fn(usize) -> (usize, usize)) -> Option<Vec<f64>> {
        let biases = self.layer.heads().iter().map(|head| head.w_q.bias.as_ref());
        let biases = biases.collect::<Option<Vec<_>>>()?;
        let entry = |column| {
            let (head, c) = of(column);
            biases[head][c]
        };
        Some((0..self.n_heads() * self.d_k()).map(entry).collect())
    }

    /// The packed projection, its columns from `of(column)` as above.
    fn columns(&self, of: impl Fn(usize) -> (usize, usize)) -> Linear {
        let weights = self.weights();
        let column = |column| {
            let (head, c) = of(column);
            weights[head].column(c)
        };
        let columns: Vec<_> = (0..self.n_heads() * self.d_k()).map(column).collect();
        let bias = self.bias(of).map(Into::into);
        Linear { weight: Matrix::from_columns(&columns), bias }
    }

    /// As the stage packs it.
    fn packed(&self) -> Linear {
        self.layer.pack().w_q().clone()
    }
}

/// What the reader writes: from h heads, whose W^Q is `[d_model, d_k]`, one projection
/// `[d_model, h · d_k]`.
pub type PackQueries = fn(heads: &[HeadParameters]) -> Linear;

/// Checks an answer.
pub fn check(answer: PackQueries) -> ExitCode {
    EXERCISE.check(move |input| answer(input.layer.heads()))
}

const FORMULA: Section =
    Section::new("one-matrix-many-heads", "The formula, with shapes");
const PACK: Section = Section::new("one-matrix-many-heads", "Pack and unpack");
const MEMORY: Section =
    Section::new("one-matrix-many-heads", "How a matrix lies in memory");
const VIEWS: Section = Section::new(
    "one-matrix-many-heads",
    "What others do: view (or reshape), then transpose",
);

/// The exercise.
pub static EXERCISE: Exercise<Input, Linear> = Exercise {
    name: "packing",
    title: "Packing",
    read: PACK,
    begin: "the shape of the packed weight: every head reads the same d_model numbers, and \
        each writes d_k of its own. Then say where column 0 of head 1 goes",
    print: "your weight next to those of the heads",
    passed: "One product with this projection makes the queries of all heads: head i is \
        the block of columns i. Nothing was computed, the numbers only moved.",
    cases,
    reference: Input::packed,
    mistakes: &[
        Mistake {
            name: "interleaves the columns of the heads",
            does: "It sets column 0 of every head side by side, then column 1 of every \
                head, and so on",
            looks_right: "Every column is there once; but block i is no longer head i",
            read: FORMULA,
            answer: |input| input.columns(|j| (j % input.n_heads(), j / input.n_heads())),
        },
        Mistake {
            name: "packs the heads in reverse order",
            does: "It begins with the last head",
            looks_right: "Each block is one head; but W^O and the other projections count \
                from the first",
            read: FORMULA,
            answer: |input| {
                let (last, d_k) = (input.n_heads() - 1, input.d_k());
                input.columns(|j| (last - j / d_k, j % d_k))
            },
        },
        Mistake {
            name: "loses the biases",
            does: "The weight is right, and what the heads add to every query is gone: the \
                bias is None, or zeros, which add as little",
            looks_right: "A fresh layer often starts with biases of zero, and then it is \
                right",
            read: PACK,
            answer: |input| {
                let bias = input.packed().bias.map(|bias| bias.map(|_| 0.0));
                Linear { bias, ..input.packed() }
            },
        },
        Mistake {
            name: "interleaves the columns of the weight and not the biases",
            does: "It sets column 0 of every head side by side, then column 1, and \
                leaves the biases head by head, so that a column adds the bias of \
                another",
            looks_right: "The biases are right, and so is the shape of the weight",
            read: FORMULA,
            answer: |input| {
                let interleaved = |j| (j % input.n_heads(), j / input.n_heads());
                Linear { bias: input.packed().bias, ..input.columns(interleaved) }
            },
        },
        Mistake {
            name: "interleaves the biases and not the columns of the weight",
            does: "Entry 0 of every bias comes first, then entry 1, and the weight lies \
                head by head, so that a column adds the bias of another",
            looks_right: "The weight is right, and so is the width of the bias",
            read: FORMULA,
            answer: |input| {
                let interleaved = |j| (j % input.n_heads(), j / input.n_heads());
                Linear { bias: input.columns(interleaved).bias, ..input.packed() }
            },
        },
        Mistake {
            name: "repeats the bias of head 0 for every head",
            does: "The weight is right, and head i adds the bias of head 0",
            looks_right: "The bias has the right width, and head 0 is right",
            read: PACK,
            answer: |input| {
                let of_head_0 = input.bias(|j| (0, j % input.d_k()));
                Linear { bias: of_head_0.map(Into::into), ..input.packed() }
            },
        },
        Mistake {
            name: "views the stacked matrices as one without the transpose",
            does: "It lays matrix after matrix in one line, each row by row, and cuts the \
                line into d_model rows, so that the first rows come from head 0 alone",
            looks_right: "It is a view of (h, d_model, d_k) as (d_model, h · d_k): the \
                numbers are all there, and the shape is right",
            read: VIEWS,
            answer: view_without_transpose,
        },
        Mistake {
            name: "fills rows from numbers that lie in columns",
            does: "It takes the numbers of each matrix as memory holds them, column after \
                column, and writes them row after row",
            looks_right: "An iterator over a matrix gives all of its numbers, and the \
                shape is right",
            read: MEMORY,
            answer: fill_rows_from_columns,
        },
        Mistake {
            name: "packs W^K",
            does: "It sets the matrices side by side that make keys",
            looks_right: "W^K stands next to W^Q, and where queries and keys come from \
                equally wide tokens it has the same shape",
            read: FORMULA,
            answer: |input| input.layer.pack().w_k().clone(),
        },
    ],
    place: |input, Place { part, row, column }| {
        let (head, c) = (column / input.d_k(), column % input.d_k());
        match part {
            0 => format!("weight, row {row}, column {column} (head {head}, column {c})"),
            _ => format!("bias, entry {column} (head {head}, entry {c})"),
        }
    },
};

fn cases() -> Vec<Case<Input>> {
    let case = |d_model, n_heads, d_k, key_width, bias: bool, seed| {
        let dims = inputs::dims(d_model, n_heads, d_k, d_k);
        let dims = dims.with_source_widths(key_width, key_width).expect("no size is 0");
        let biases = if bias { "with" } else { "without" };
        Case {
            sizes: format!(
                "d_model {d_model}, {n_heads} heads, d_k {d_k}, {biases} biases"
            ),
            square: n_heads * d_k == d_model,
            input: Input {
                layer: LayerParameters::random(dims, bias, &mut Rng::seed_from_u64(seed)),
            },
        }
    };
    vec![case(4, 2, 2, 4, true, 1), case(5, 3, 2, 7, true, 2), case(3, 2, 4, 3, false, 3)]
}

fn view_without_transpose(input: &Input) -> Linear {
    // nalgebra iterates column by column, and the columns of a transpose are rows.
    let by_rows: Vec<_> = input.weights().into_iter().map(Matrix::transpose).collect();
    let weight = input.row_by_row(by_rows.iter().flatten().copied());
    Linear { weight, ..input.packed() }
}

fn fill_rows_from_columns(input: &Input) -> Linear {
    let weight = input.row_by_row(input.weights().into_iter().flatten().copied());
    Linear { weight, ..input.packed() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Difference, Verdict};

    #[test]
    fn right_answers_written_otherwise_pass() {
        let entry_by_entry = |input: &Input| {
            let d_k = input.d_k();
            let shape = (input.layer.dims().d_model(), input.n_heads() * d_k);
            let mut weight = Matrix::zeros(shape.0, shape.1);
            for (i, head) in input.weights().iter().enumerate() {
                for row in (0..shape.0).rev() {
                    for c in 0..d_k {
                        weight[(row, i * d_k + c)] = head[(row, c)];
                    }
                }
            }
            let bias = input.bias(|j| (j / d_k, j % d_k)).map(Into::into);
            Linear { weight, bias }
        };
        assert_eq!(EXERCISE.diagnose(entry_by_entry), Verdict::Passed);
        let in_f32 = |input: &Input| input.layer.cast::<f32>().pack().w_q().cast::<f64>();
        assert_eq!(EXERCISE.diagnose(in_f32), Verdict::Passed);
    }

    #[test]
    fn no_bias_and_a_bias_of_zeros_are_one_mistake() {
        for bias in [None, Some(0.0)] {
            let verdict = EXERCISE.diagnose(|input| {
                let packed = input.packed();
                let zeros = bias.map(|zero| vec![zero; packed.d_out()].into());
                Linear { bias: zeros, ..packed }
            });
            let Verdict::Mistake { mistake, .. } = verdict else { panic!("{verdict:?}") };
            assert_eq!(EXERCISE.mistakes[mistake].name, "loses the biases");
        }
    }

    #[test]
    fn an_empty_bias_is_told_from_none() {
        let verdict = EXERCISE.diagnose(|input| {
            let packed = input.packed();
            let bias = packed.bias.or_else(|| Some(vec![].into()));
            Linear { weight: packed.weight, bias }
        });
        let message = EXERCISE.message(&verdict);
        let words = message.split_whitespace().collect::<Vec<_>>().join(" ");
        let asked = "The shape of the bias, as a row, is (1, 0); None was expected";
        assert!(words.contains(asked), "{message}");
    }

    #[test]
    fn a_square_weight_is_right_only_where_the_heads_fill_d_model() {
        let verdict = EXERCISE.diagnose(|input| {
            let d_model = input.layer.dims().d_model();
            let packed = input.packed();
            let weight = packed.weight.resize(d_model, d_model, 0.0);
            Linear { weight, ..packed }
        });
        assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
    }

    #[test]
    fn a_panic_is_told_and_not_guessed_at() {
        let verdict = EXERCISE.diagnose(|input| {
            input.columns(|j| (j / input.n_heads() + 1, j % input.d_k()))
        });
        let Verdict::Unknown { difference: Difference::Panic { .. }, .. } = verdict
        else {
            panic!("{verdict:?}");
        };
    }
}
