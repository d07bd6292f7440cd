//! Mistakes after the heads: how they are merged, and how they are mixed.

use attention::{Attended, Matrix};

use super::projections::without_biases;
use super::steps::{apply_bare, side_by_side};
use super::{Input, Steps};
use crate::{Mistake, Section};

const MIXER: Section = Section::new("a-lens-per-head", "The mixer, W^O");
const SUM: Section = Section::new("a-lens-per-head", "The same layer, as a sum");
const LAYER_WRONG: Section = Section::new("a-lens-per-head", "What people get wrong");
const VIEWS: Section = Section::new(
    "one-matrix-many-heads",
    "What others do: view (or reshape), then transpose",
);
const FUSED_WRONG: Section =
    Section::new("one-matrix-many-heads", "What people get wrong");
const SQUARE: Section =
    Section::new("one-matrix-many-heads", "The mistake that a square hides");
const NAN: Section = Section::new("bad-numbers", "How far a NaN gets");
const BIASES: Section = Section::new("counting", "Counting parameters");

/// `map · V`, whatever stands in V.
pub const PLAIN_PRODUCT: Mistake<Input, Attended> = Mistake {
    name: "lets the values of blocked keys in",
    does: "It multiplies the whole map by the values. Where the value of a blocked key is NaN \
        or ∞, its share of 0 times that is NaN, for every query",
    looks_right: "All maps are right, and without NaN a share of 0 adds nothing",
    read: NAN,
    answer: |input| Steps { average: |attn, v| attn * v, ..Steps::RIGHT }.run(input),
};

/// Heads from last to first.
pub const REVERSED: Mistake<Input, Attended> = Mistake {
    name: "concatenates the heads in reverse order",
    does: "W^O then reads each head with the rows that are meant for another",
    looks_right: "All heads are there, and all maps are right",
    read: MIXER,
    answer: |input| {
        let merge = |heads: &[Matrix]| {
            side_by_side(&heads.iter().rev().cloned().collect::<Vec<_>>())
        };
        Steps { merge, ..Steps::RIGHT }.run(input)
    },
};

/// Feature by feature.
pub const INTERLEAVED: Mistake<Input, Attended> = Mistake {
    name: "interleaves the features of the heads",
    does: "It puts feature 0 of every head first, then feature 1 of every head, and so \
        on",
    looks_right: "All numbers are there, and the width is right",
    read: FUSED_WRONG,
    answer: |input| Steps { merge: interleaved, ..Steps::RIGHT }.run(input),
};

fn interleaved(heads: &[Matrix]) -> Matrix {
    let (n_q, d_v) = heads[0].shape();
    let h = heads.len();
    Matrix::from_fn(n_q, h * d_v, |token, c| heads[c % h][(token, c / h)])
}

/// `view(n, h · d_v)` at once.
pub const VIEW: Mistake<Input, Attended> = Mistake {
    name: "merges the heads without the transpose",
    does: "It reads the numbers head by head as (tokens, h · d_v), so the first rows hold \
        head 0 alone",
    looks_right: "The heads were cut correctly, and the shape is right",
    read: VIEWS,
    answer: |input| Steps { merge: view, ..Steps::RIGHT }.run(input),
};

fn view(heads: &[Matrix]) -> Matrix {
    let (n_q, d_v) = heads[0].shape();
    let width = heads.len() * d_v;
    Matrix::from_fn(n_q, width, |token, c| {
        let at = token * width + c;
        heads[at / (n_q * d_v)][(at / d_v % n_q, at % d_v)]
    })
}

/// One mean for all heads.
pub const MEAN: Mistake<Input, Attended> = Mistake {
    name: "averages the heads before W^O",
    does: "Every head's place in the concatenation holds the mean of all heads, so W^O cannot tell which head said what",
    looks_right: "A mixed output is a sum over heads, but each has a W_i^O of its own",
    read: SUM,
    answer: |input| {
        let merge = |heads: &[Matrix]| {
            let mean = heads.iter().sum::<Matrix>() / heads.len() as f64;
            side_by_side(&vec![mean; heads.len()])
        };
        Steps { merge, ..Steps::RIGHT }.run(input)
    },
};

/// One block of W^O for all heads.
pub const ONE_BLOCK: Mistake<Input, Attended> = Mistake {
    name: "mixes every head with the rows of W^O that read head 0",
    does: "It sums head_i W_0^O, and head i has rows of its own, i · d_v to (i + 1) · \
        d_v",
    looks_right: "Head 0 is mixed right, and each product has the right shape",
    read: SUM,
    answer: |input| Steps { mix: with_one_block, ..Steps::RIGHT }.run(input),
};

fn with_one_block(input: &Input, concat: &Matrix) -> Matrix {
    let dims = input.parameters.dims();
    let head = |i| concat.columns(i * dims.d_v(), dims.d_v());
    let sum: Matrix = (0..dims.n_heads()).map(|i| head(i).into_owned()).sum();
    let mut out = sum * input.parameters.w_o_of_head(0);
    add_output_bias(input, &mut out);
    out
}

/// W^O left out.
pub const NO_W_O: Mistake<Input, Attended> = Mistake {
    name: "leaves W^O out",
    does: "It gives back the concatenation, in which no number knows of two heads",
    looks_right: "With h · d_v = d_model the concatenation already has the right width",
    read: LAYER_WRONG,
    answer: |input| Steps { mix: |_, concat| concat.clone(), ..Steps::RIGHT }.run(input),
};

/// W^O transposed.
pub const TURNED_W_O: Mistake<Input, Attended> = Mistake {
    name: "multiplies by W^O transposed",
    does: "It computes concat · Wᵀ + b, as for a file that stores W as [out, in]",
    looks_right: "With h · d_v = d_model it is square, and transposed or not it fits",
    read: SQUARE,
    answer: |input| Steps { mix: with_w_o_turned, ..Steps::RIGHT }.run(input),
};

fn with_w_o_turned(input: &Input, concat: &Matrix) -> Matrix {
    let mut out = concat * input.parameters.w_o().weight.transpose();
    add_output_bias(input, &mut out);
    out
}

/// b^O forgotten.
pub const NO_OUTPUT_BIAS: Mistake<Input, Attended> = Mistake {
    name: "forgets b^O",
    does: "It multiplies by W^O and adds nothing, so every output is off by the same row",
    looks_right: "All maps are right, and with a bias of 0 the output is",
    read: BIASES,
    answer: |input| {
        let mix =
            |input: &Input, concat: &Matrix| apply_bare(input.parameters.w_o(), concat);
        Steps { mix, ..Steps::RIGHT }.run(input)
    },
};

/// b^O in every term of the sum.
pub const BIAS_PER_HEAD: Mistake<Input, Attended> = Mistake {
    name: "adds b^O once per head",
    does: "It adds b^O inside the sum over heads, h times in all",
    looks_right: "With one head it is right, and the layer is a sum of heads",
    read: SUM,
    answer: |input| {
        let mix = |input: &Input, concat: &Matrix| {
            let mut out = apply_bare(input.parameters.w_o(), concat);
            input
                .parameters
                .heads()
                .iter()
                .for_each(|_| add_output_bias(input, &mut out));
            out
        };
        Steps { mix, ..Steps::RIGHT }.run(input)
    },
};

fn add_output_bias(input: &Input, out: &mut Matrix) {
    if let Some(b_o) = &input.parameters.w_o().bias {
        out.row_iter_mut().for_each(|mut token| token += b_o);
    }
}

/// No bias anywhere.
pub const NO_BIASES: Mistake<Input, Attended> = Mistake {
    name: "forgets every bias",
    does: "It takes the weights of the four projections and leaves b^Q, b^V and b^O out",
    looks_right: "The formula of the paper has no biases; this layer does",
    read: BIASES,
    answer: |input| {
        let mix =
            |input: &Input, concat: &Matrix| apply_bare(input.parameters.w_o(), concat);
        Steps { project: without_biases, mix, ..Steps::RIGHT }.run(input)
    },
};
