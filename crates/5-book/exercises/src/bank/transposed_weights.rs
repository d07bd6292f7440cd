//! A weight that a file stores `[out, in]`, as the `[in, out]` that `x · W` needs.

use std::process::ExitCode;

use attention::Matrix;
use model_files::{NewTensor, TensorFile, to_bytes};

use crate::{Case, Exercise, Mistake, Place, Section};

/// The numbers of a weight as they lie in a file, row after row, and its two sizes.
pub struct Input {
    numbers: Vec<f32>,
    d_out: usize,
    d_in: usize,
}

impl Input {
    /// The number at this place of the file.
    fn at(&self, place: usize) -> f64 {
        self.numbers[place].into()
    }

    /// W as the file has it, `[out, in]`.
    fn as_in_the_file(&self) -> Matrix {
        Matrix::from_fn(self.d_out, self.d_in, |o, i| self.at(o * self.d_in + i))
    }

    /// `[in, out]`, from a rule for the place of an entry in the file.
    fn turned(&self, place: impl Fn(usize, usize) -> usize) -> Matrix {
        Matrix::from_fn(self.d_in, self.d_out, |i, o| self.at(place(i, o)))
    }
}

/// What the reader writes: from the numbers of a weight `[d_out, d_in]`, row after row,
/// the matrix `[d_in, d_out]`.
pub type ReadProjection = fn(numbers: &[f32], d_out: usize, d_in: usize) -> Matrix;

/// Checks an answer.
pub fn check(answer: ReadProjection) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.numbers, input.d_out, input.d_in))
}

const SQUARE: Section = Section::new("trained-heads", "Your own layer");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "transposed_weights",
    title: "Weights from a file",
    read: SQUARE,
    begin: "one entry: the weight from input i to output o. Where is it in W, and at which \
        place of the file does that row begin?",
    print: "your matrix, whose numbers say where they stood in the file",
    passed: "The matrix fits x · W, and each number stands where the file means it. Of a \
        square weight the shape alone would not have told you.",
    cases,
    reference: by_the_reader_of_files,
    mistakes: &[
        Mistake {
            name: "keeps W as the file has it",
            does: "It gives [out, in], which belongs into x · Wᵀ",
            looks_right: "It is the matrix in the file, number for number, and a square one \
                even multiplies",
            read: SQUARE,
            answer: Input::as_in_the_file,
        },
        Mistake {
            name: "reads the rows of the file as rows of [in, out]",
            does: "It swaps the two sizes and fills the result row by row, so that the rows \
                of the file break off at another length",
            looks_right: "The shape is right, every number is used once, and x · W runs",
            read: SQUARE,
            answer: |input| input.turned(|i, o| i * input.d_out + o),
        },
        Mistake {
            name: "swaps each pair of entries twice",
            does: "It goes over all rows and all columns and swaps across the diagonal; the \
                second swap of a pair undoes the first",
            looks_right: "Each swap is right, and a square matrix keeps its shape",
            read: SQUARE,
            answer: swapped_twice,
        },
        Mistake {
            name: "takes d_out for the length of the file's rows",
            does: "It looks for row o at place o · d_out, and a row of the file has d_in \
                numbers",
            looks_right: "The shape is right, and for a square matrix all is",
            read: SQUARE,
            answer: |input| input.turned(|i, o| o * input.d_out + i),
        },
        Mistake {
            name: "steps by d_in from input to input",
            does: "It looks for input i at place i · d_in, and in the file it is outputs \
                that lie d_in apart",
            looks_right: "The length of a row is right, and so is the shape",
            read: SQUARE,
            answer: |input| input.turned(|i, o| i * input.d_in + o),
        },
    ],
    place: |_, Place { row, column, .. }| format!("input {row}, output {column}"),
};

/// The numbers say where they stood: 21 is row 2, column 1 of the file.
fn cases() -> Vec<Case<Input>> {
    let case = |d_out: usize, d_in: usize| {
        let number = |place: usize| (10 * (place / d_in) + place % d_in) as f32;
        Case {
            sizes: format!("d_out {d_out}, d_in {d_in}, each number 10 · row + column"),
            square: d_out == d_in,
            input: Input {
                numbers: (0..d_out * d_in).map(number).collect(),
                d_out,
                d_in,
            },
        }
    };
    vec![case(3, 3), case(2, 5), case(4, 3)]
}

/// As the W^K of a file whose keys are d_in wide.
fn by_the_reader_of_files(input: &Input) -> Matrix {
    let &Input { d_out, d_in, .. } = input;
    let square = Matrix::zeros(d_out, d_out);
    let tensors = [
        ("k_proj_weight", d_in, &input.as_in_the_file()),
        ("q_proj_weight", d_out, &square),
        ("v_proj_weight", d_out, &square),
        ("out_proj.weight", d_out, &square),
    ];
    let tensors =
        tensors.map(|(name, width, w)| NewTensor::new(name, &[d_out, width], [w]));
    let layer = tensors.into_iter().collect::<Result<Vec<_>, _>>().and_then(|tensors| {
        TensorFile::from_bytes("the exercise", to_bytes(&tensors)?)?.layer(1, None)
    });
    layer.expect("a file of our own").heads()[0].w_k.weight.clone()
}

fn swapped_twice(input: &Input) -> Matrix {
    let mut w = input.as_in_the_file();
    for o in 0..input.d_out {
        for i in 0..input.d_in {
            w.swap((o, i), (i, o));
        }
    }
    w
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Difference, Verdict};

    #[test]
    fn any_way_of_turning_is_right() {
        let read_then_turn = |input: &Input| {
            let w = Matrix::from_row_slice(input.d_out, input.d_in, &input.numbers);
            w.transpose().map(f64::from)
        };
        let sizes_swapped = |input: &Input| {
            let numbers = input.numbers.iter().copied().map(f64::from);
            Matrix::from_iterator(input.d_in, input.d_out, numbers)
        };
        let number_by_number = |input: &Input| {
            let mut w = Matrix::zeros(input.d_in, input.d_out);
            for (place, &number) in input.numbers.iter().enumerate().rev() {
                w[(place % input.d_in, place / input.d_in)] = f64::from(number);
            }
            w
        };
        assert_eq!(EXERCISE.diagnose(read_then_turn), Verdict::Passed);
        assert_eq!(EXERCISE.diagnose(sizes_swapped), Verdict::Passed);
        assert_eq!(EXERCISE.diagnose(number_by_number), Verdict::Passed);
    }

    #[test]
    fn sizes_left_in_the_order_of_the_file_are_right_for_squares() {
        let sizes_not_swapped = |input: &Input| {
            let numbers = input.numbers.iter().copied().map(f64::from);
            Matrix::from_iterator(input.d_out, input.d_in, numbers)
        };
        let verdict = EXERCISE.diagnose(sizes_not_swapped);
        assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
    }

    #[test]
    fn a_panic_is_told() {
        let verdict = EXERCISE.diagnose(|input| {
            let tail: Vec<f64> = (1..=input.numbers.len()).map(|n| input.at(n)).collect();
            Matrix::from_vec(input.d_in, input.d_out, tail)
        });
        let Verdict::Unknown { difference, .. } = verdict else { panic!("{verdict:?}") };
        assert!(matches!(difference, Difference::Panic { .. }), "{difference:?}");
    }
}
