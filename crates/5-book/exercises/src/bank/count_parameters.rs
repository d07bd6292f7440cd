//! The parameters of a layer, from its sizes.

use std::process::ExitCode;

use attention::{Dims, LayerParameters, Rng, SeedableRng};

use super::{inputs, places};
use crate::{Case, Exercise, Mistake, Section};

/// The sizes of a layer, and whether its projections have biases.
#[derive(Clone, Copy)]
pub struct Input {
    dims: Dims,
    bias: bool,
}

impl Input {
    /// A projection: its matrix, and its bias if it has one.
    fn linear(&self, d_in: usize, d_out: usize) -> usize {
        d_in * d_out + if self.bias { d_out } else { 0 }
    }

    /// W_i^Q, W_i^K and W_i^V of all heads, with their biases.
    fn heads(&self) -> usize {
        let (d_model, d_k, d_v) = (self.dims.d_model(), self.dims.d_k(), self.dims.d_v());
        self.dims.n_heads() * (2 * self.linear(d_model, d_k) + self.linear(d_model, d_v))
    }

    /// W^O and its bias.
    fn mixer(&self) -> usize {
        self.linear(self.dims.concat_width(), self.dims.d_model())
    }

    /// All matrices, and `biases` entries of biases where there are any.
    fn with_biases(&self, biases: usize) -> usize {
        let matrices = Input { bias: false, ..*self }.total();
        matrices + if self.bias { biases } else { 0 }
    }

    fn total(&self) -> usize {
        self.heads() + self.mixer()
    }
}

/// What the reader writes: from the sizes, the number of parameters. Keys and values are
/// projected from tokens of width d_model.
pub type CountParameters = fn(dims: Dims, bias: bool) -> usize;

/// Checks an answer.
pub fn check(answer: CountParameters) -> ExitCode {
    EXERCISE.check(move |input| answer(input.dims, input.bias))
}

const COUNTING: Section = Section::new("counting", "Counting parameters");
const HEADS: Section =
    Section::new("counting", "Why the number of heads does not matter");
const WRONG: Section = Section::new("counting", "What people get wrong");

/// With the bias that stays behind, and as the short formula, it is the same mistake.
const NO_W_O: Mistake<Input, usize> = Mistake {
    name: "forgets W^O",
    does: "It counts what the heads own and nothing that comes after them",
    looks_right: "The formula of a head has Q, K and V and no W^O",
    read: COUNTING,
    answer: Input::heads,
};

/// Also with W^O as a square, or one for each head.
const SQUARES: Mistake<Input, usize> = Mistake {
    name: "gives every head three matrices of d_model × d_model",
    does: "It counts W_i^Q, W_i^K and W_i^V as squares, and they have d_k or d_v \
        columns",
    looks_right: "A head reads the whole token; and where heads share the width, \
        such a square is what all heads have together",
    read: WRONG,
    answer: squares,
};

/// Also with every matrix taken for a square of d_model.
const BIAS_AS_A_MATRIX: Mistake<Input, usize> = Mistake {
    name: "counts each bias as large as a matrix",
    does: "It adds a second matrix where a bias should be, and a bias is one row, with an \
        entry for each column of its matrix",
    looks_right: "Each matrix does have one bias, and without biases it is right",
    read: COUNTING,
    answer: |input| input.with_biases(input.with_biases(0)),
};

/// Also where W^O is counted for one head.
const ONE_HEAD: Mistake<Input, usize> = Mistake {
    name: "forgets that there are several heads",
    does: "It counts W_i^Q, W_i^K and W_i^V of one head, and each head has its own",
    looks_right: "Every matrix is in the count, with its bias, and for one head it is \
        right",
    read: COUNTING,
    answer: |input| input.heads() / input.dims.n_heads() + input.mixer(),
};

/// The exercise.
pub static EXERCISE: Exercise<Input, usize> = Exercise {
    name: "count_parameters",
    title: "Count the parameters",
    read: COUNTING,
    begin: "one projection: how many numbers has a matrix of shape (d_in, d_out), and how \
        many its bias? Then list the projections of the layer",
    print: "the terms of your sum, one for each matrix and each bias",
    passed: "Your count is that of live layers, whatever their sizes. While the heads share \
        d_model, their number does not change it.",
    cases,
    reference: |input| {
        let rng = &mut Rng::seed_from_u64(1);
        let layer: LayerParameters = LayerParameters::random(input.dims, input.bias, rng);
        layer.count().total()
    },
    mistakes: &[
        Mistake {
            name: "forgets the biases",
            does: "It counts the matrices alone, also where the layer has biases",
            looks_right: "The matrices are nearly all of the count, and without biases it is \
                right",
            read: COUNTING,
            answer: |input| Input { bias: false, ..*input }.total(),
        },
        Mistake {
            name: "counts biases that are not there",
            does: "It adds the biases whatever `bias` says",
            looks_right: "Most layers have them",
            read: WRONG,
            answer: |input| Input { bias: true, ..*input }.total(),
        },
        Mistake {
            name: "forgets the bias of W^O",
            does: "It counts the biases of Q, K and V, and W^O as a bare matrix",
            looks_right: "Every head is right, and d_model numbers more or less do not show \
                in a large count",
            read: COUNTING,
            answer: |input| input.heads() + Input { bias: false, ..*input }.mixer(),
        },
        Mistake {
            name: "counts b^O as wide as the concatenation",
            does: "It gives the bias of W^O h · d_v entries, one for each row of W^O; but \
                a bias is added to the output, and has one for each column: d_model",
            looks_right: "The concatenation is what W^O is applied to, and where heads \
                share the width it is d_model wide",
            read: COUNTING,
            answer: |input| {
                let Input { dims, bias } = *input;
                let b_o = if bias { dims.concat_width() } else { 0 };
                input.heads() + dims.concat_width() * dims.d_model() + b_o
            },
        },
        Mistake {
            name: "counts four biases of d_model entries",
            does: "It adds 4 · d_model, whatever the heads are. But b^Q, b^K and b^V have \
                h · d_k and h · d_v entries, those of all heads together",
            looks_right: "Where heads share the width, h · d_k is d_model, and it is right",
            read: HEADS,
            answer: |input| input.with_biases(4 * input.dims.d_model()),
        },
        Mistake {
            name: "counts the biases of a head as d_model wide",
            does: "It gives each head three biases of d_model entries; but a bias is added \
                to what the head makes, which is d_k or d_v wide",
            looks_right: "A head reads tokens that are d_model wide, and b^O does have \
                d_model entries",
            read: COUNTING,
            answer: |input| {
                let Input { dims, .. } = *input;
                input.with_biases((3 * dims.n_heads() + 1) * dims.d_model())
            },
        },
        Mistake {
            name: "gives a bias an entry for each row of its matrix",
            does: "It counts as many entries as the projection reads; but a bias is added \
                to what comes out, and has one for each column",
            looks_right: "Every bias is in the count, and that of a square is right",
            read: COUNTING,
            answer: |input| {
                let Input { dims, .. } = *input;
                let of_heads = 3 * dims.n_heads() * dims.d_model();
                input.with_biases(of_heads + dims.concat_width())
            },
        },
        Mistake {
            name: "counts the biases of one head alone",
            does: "It multiplies the matrices by the number of heads and not the biases",
            looks_right: "Every matrix is in the count, and the biases are few",
            read: COUNTING,
            answer: |input| {
                let Input { dims, .. } = *input;
                input.with_biases(2 * dims.d_k() + dims.d_v() + dims.d_model())
            },
        },
        BIAS_AS_A_MATRIX,
        Mistake {
            answer: |input| {
                let d_model = input.dims.d_model();
                input.with_biases(4 * d_model * d_model)
            },
            ..BIAS_AS_A_MATRIX
        },
        NO_W_O,
        Mistake {
            answer: |input| {
                let Input { dims, bias } = *input;
                input.heads() + if bias { dims.d_model() } else { 0 }
            },
            ..NO_W_O
        },
        Mistake {
            answer: |input| 3 * input.linear(input.dims.d_model(), input.dims.d_model()),
            ..NO_W_O
        },
        ONE_HEAD,
        Mistake {
            answer: |input| {
                let one_head = input.heads() / input.dims.n_heads();
                one_head + input.linear(input.dims.d_v(), input.dims.d_model())
            },
            ..ONE_HEAD
        },
        Mistake {
            name: "counts W^O once for each head",
            does: "It multiplies by the number of heads what the layer has only once",
            looks_right: "Each head does have a block of W^O; but all blocks together are \
                one W^O",
            read: COUNTING,
            answer: |input| input.heads() + input.dims.n_heads() * input.mixer(),
        },
        SQUARES,
        Mistake {
            answer: |input| {
                let d_model = input.dims.d_model();
                (3 * input.dims.n_heads() + 1) * input.linear(d_model, d_model)
            },
            ..SQUARES
        },
        Mistake {
            answer: |input| {
                let d_model = input.dims.d_model();
                4 * input.dims.n_heads() * input.linear(d_model, d_model)
            },
            ..SQUARES
        },
        Mistake {
            name: "makes every head as wide as the model",
            does: "It takes d_model for d_k and d_v, so that every matrix of a head is a \
                square and W^O reads h · d_model numbers",
            looks_right: "A head reads the whole token, which is d_model wide; but what it \
                writes is narrow",
            read: HEADS,
            answer: full_width,
        },
        Mistake {
            name: "makes values as wide as keys",
            does: "It counts W_i^V with d_k columns, and a value is d_v wide",
            looks_right: "In most layers d_v is d_k",
            read: COUNTING,
            answer: values_as_wide_as_keys,
        },
    ],
    place: places::count,
};

fn cases() -> Vec<Case<Input>> {
    let case = |d_model: usize, n_heads: usize, d_k: usize, d_v: usize, bias: bool| {
        let biases = if bias { "with biases" } else { "no biases" };
        Case {
            sizes: format!(
                "d_model {d_model}, {n_heads} heads, d_k {d_k}, d_v {d_v}, {biases}"
            ),
            square: d_k == d_v && n_heads * d_k == d_model,
            input: Input { dims: inputs::dims(d_model, n_heads, d_k, d_v), bias },
        }
    };
    vec![
        case(256, 8, 32, 32, true),
        case(512, 8, 64, 64, false),
        case(10, 4, 3, 7, true),
        case(12, 3, 5, 2, false),
    ]
}

fn full_width(input: &Input) -> usize {
    let (d_model, n_heads) = (input.dims.d_model(), input.dims.n_heads());
    let dims = inputs::dims(d_model, n_heads, d_model, d_model);
    Input { dims, ..*input }.total()
}

fn squares(input: &Input) -> usize {
    let d_model = input.dims.d_model();
    3 * input.dims.n_heads() * input.linear(d_model, d_model) + input.mixer()
}

fn values_as_wide_as_keys(input: &Input) -> usize {
    let (d_model, d_k) = (input.dims.d_model(), input.dims.d_k());
    3 * input.dims.n_heads() * input.linear(d_model, d_k) + input.mixer()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Difference, Verdict};

    #[test]
    fn any_way_of_counting_is_right() {
        let head_by_head = |input: &Input| {
            let (dims, mut count) = (input.dims, 0);
            for _ in 0..dims.n_heads() {
                for width in [dims.d_v(), dims.d_k(), dims.d_k()] {
                    count += width * (dims.d_model() + usize::from(input.bias));
                }
                count += dims.d_v() * dims.d_model();
            }
            if input.bias { count + dims.d_model() } else { count }
        };
        assert_eq!(EXERCISE.diagnose(head_by_head), Verdict::Passed);
        assert_eq!(EXERCISE.diagnose(Input::total), Verdict::Passed);
    }

    #[test]
    fn the_short_formula_is_right_where_heads_share_the_width() {
        let four_squares = |input: &Input| {
            let d = input.dims.d_model();
            4 * d * d + if input.bias { 4 * d } else { 0 }
        };
        let verdict = EXERCISE.diagnose(four_squares);
        assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
    }

    #[test]
    fn a_panic_is_told() {
        let verdict = EXERCISE.diagnose(|input| [0; 3][input.dims.n_heads()]);
        let Verdict::Unknown { difference: Difference::Panic { message, .. }, .. } =
            verdict
        else {
            panic!("{verdict:?}");
        };
        assert!(message.contains("out of bounds"), "{message}");
    }
}
