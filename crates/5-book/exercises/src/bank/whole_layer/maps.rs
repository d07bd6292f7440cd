//! Mistakes between the scores and the map: the scale, the softmax and the mask.

use std::borrow::Cow;

use attention::{Attended, Mask, Matrix, softmax_rows};

use super::{Input, Steps};
use crate::{Mistake, Section};

const SCALE: Section = Section::new("scores-softmax-scale", "Why divide by √d_k");
const SCORES_WRONG: Section =
    Section::new("scores-softmax-scale", "What people get wrong");
const BEFORE_SOFTMAX: Section = Section::new("masks", "The mask comes before softmax");
const SAYS_WHO: Section = Section::new("masks", "A mask says who may look at whom");
const MULTIPLY: Section = Section::new("masks", "Two ways to multiply, both wrong");
const EMPTY_ROW: Section =
    Section::new("bad-numbers", "A query with nothing to attend to");
const HUGE: Section = Section::new("bad-numbers", "Huge scores");
const ONE_A_HEAD: Section =
    Section::new("masks", "Several masks at once, and one per head");
const MASKS_WRONG: Section = Section::new("masks", "What people get wrong");

/// No scale.
pub const NO_SCALE: Mistake<Input, Attended> = Mistake {
    name: "does not divide the scores",
    does: "Softmax gets the bare dot products, so every map is too sharp",
    looks_right: "Every row of a map is still a row of shares that sums to 1",
    read: SCALE,
    answer: |input| Steps { divisor: |_| 1.0, ..Steps::RIGHT }.run(input),
};

/// √d_model.
pub const ROOT_OF_D_MODEL: Mistake<Input, Attended> = Mistake {
    name: "divides by √d_model",
    does: "It divides by the root of the width of a token, and a dot product here adds up \
        only the d_k products of one head",
    looks_right: "With one head d_k is d_model, and every row sums to 1 in any case",
    read: SCORES_WRONG,
    answer: |input| {
        let divisor = |input: &Input| (input.parameters.dims().d_model() as f64).sqrt();
        Steps { divisor, ..Steps::RIGHT }.run(input)
    },
};

/// d_k.
pub const NO_ROOT: Mistake<Input, Attended> = Mistake {
    name: "divides by d_k and not by its root",
    does: "The spread of the scores falls to 1/√d_k, so every map is too even",
    looks_right: "A sum of d_k products divided by d_k is their mean",
    read: SCALE,
    answer: |input| {
        let divisor = |input: &Input| input.parameters.dims().d_k() as f64;
        Steps { divisor, ..Steps::RIGHT }.run(input)
    },
};

/// An own softmax, by the formula. A row without a key is NaN, or it is looked for.
pub const NO_MAXIMUM: Mistake<Input, Attended> = Mistake {
    name: "takes softmax without subtracting the largest score",
    does: "A score of 1000 has an exponential that no f64 can hold, and ∞ / ∞ is NaN; where \
        all scores of a row lie near −1000 it is 0 / 0, or the row looks as if it had no key",
    looks_right: "It is softmax by the formula, and right for small scores, those of the \
        trained layer among them",
    read: HUGE,
    answer: |input| Steps { share_out: by_the_formula, ..Steps::RIGHT }.run(input),
};

/// The same, with rows of zeros for a sum of 0.
pub const NO_MAXIMUM_GUARDED: Mistake<Input, Attended> = Mistake {
    answer: |input| {
        let share_out = |scores: Matrix, mask: &Mask| {
            shares(mask.apply(scores), |sum| if sum == 0.0 { 1.0 } else { sum })
        };
        Steps { share_out, ..Steps::RIGHT }.run(input)
    },
    ..NO_MAXIMUM
};

fn by_the_formula(scores: Matrix, mask: &Mask) -> Matrix {
    shares(mask.apply(scores), |sum| sum)
}

fn shares(scores: Matrix, divisor: fn(f64) -> f64) -> Matrix {
    let mut attn = scores.map(f64::exp);
    attn.row_iter_mut().for_each(|mut row| row /= divisor(row.sum()));
    attn
}

/// Softmax over the queries.
pub const DOWN_THE_COLUMNS: Mistake<Input, Attended> = Mistake {
    name: "shares out each key among the queries",
    does: "It runs softmax down the columns of the scores, so rows no longer sum to 1",
    looks_right: "Every share lies between 0 and 1, and the shape is right",
    read: SCORES_WRONG,
    answer: |input| Steps { share_out: down_the_columns, ..Steps::RIGHT }.run(input),
};

fn down_the_columns(scores: Matrix, mask: &Mask) -> Matrix {
    softmax_rows(mask.apply(scores).transpose()).transpose()
}

/// No mask.
pub const NO_MASK: Mistake<Input, Attended> = Mistake {
    name: "never looks at the mask",
    does: "It lets every query attend to every key",
    looks_right: "Without a mask it is right, and with one all rows sum to 1",
    read: SAYS_WHO,
    answer: |input| {
        Steps { mask: |_, _| Cow::Owned(Mask::None), ..Steps::RIGHT }.run(input)
    },
};

/// The mask too late.
pub const MASK_AFTER_SOFTMAX: Mistake<Input, Attended> = Mistake {
    name: "puts the mask on after the softmax",
    does: "Blocked keys take their part of the 1 and are then set to 0, so a row sums to \
        less",
    looks_right: "Blocked keys do get a share of 0",
    read: BEFORE_SOFTMAX,
    answer: |input| Steps { share_out: mask_after_softmax, ..Steps::RIGHT }.run(input),
};

fn mask_after_softmax(scores: Matrix, mask: &Mask) -> Matrix {
    each(&softmax_rows(scores), mask, |share, added| added.map_or(0.0, |_| share))
}

/// A score of 0 for a blocked key.
pub const BLOCKED_IS_ZERO: Mistake<Input, Attended> = Mistake {
    name: "sets the scores of blocked keys to 0",
    does: "A score of 0 counts as e^0 = 1 in softmax, so a blocked key keeps a share",
    looks_right: "Multiplying by 0 does away with most things, and rows sum to 1",
    read: MULTIPLY,
    answer: |input| Steps { share_out: blocked_is_zero, ..Steps::RIGHT }.run(input),
};

fn blocked_is_zero(scores: Matrix, mask: &Mask) -> Matrix {
    softmax_rows(each(&scores, mask, |score, added| added.map_or(0.0, |add| score + add)))
}

/// The other polarity.
pub const TURNED_MASK: Mistake<Input, Attended> = Mistake {
    name: "inverts the mask",
    does: "It blocks the keys that may be seen and opens the others",
    looks_right: "Libraries use both meanings of true, and rows with a key left sum \
        to 1",
    read: MASKS_WRONG,
    answer: |input| Steps { share_out: turned_mask, ..Steps::RIGHT }.run(input),
};

fn turned_mask(scores: Matrix, mask: &Mask) -> Matrix {
    let blocked = f64::NEG_INFINITY;
    softmax_rows(each(&scores, mask, |score, added| added.map_or(score, |_| blocked)))
}

/// −1e9 for a blocked key.
pub const FINITE_FILL: Mistake<Input, Attended> = Mistake {
    name: "fills blocked scores with −1e9",
    does: "A query that may attend to nothing then attends evenly to all that it may not",
    looks_right: "While a row has a key left, it is the same as −∞, and much code does \
        it",
    read: EMPTY_ROW,
    answer: |input| Steps { share_out: finite_fill, ..Steps::RIGHT }.run(input),
};

fn finite_fill(scores: Matrix, mask: &Mask) -> Matrix {
    softmax_rows(each(&scores, mask, |score, added| {
        added.map_or(-1e9, |add| score + add)
    }))
}

/// Every entry anew, from what it was and what the mask adds there (nothing: blocked).
fn each(old: &Matrix, mask: &Mask, new: impl Fn(f64, Option<f64>) -> f64) -> Matrix {
    let (n_q, n_kv) = old.shape();
    let entry = |i, j| new(old[(i, j)], mask.added((i, j), (n_q, n_kv)));
    Matrix::from_fn(n_q, n_kv, entry)
}

/// `mask.apply` without `mask.of_head`: a mask a head is then read as its first.
pub const MASK_OF_HEAD_0: Mistake<Input, Attended> = Mistake {
    name: "puts the mask of head 0 on every head",
    does: "It never asks for the mask of head i, and a list of masks then counts as its \
        first",
    looks_right: "With one mask for all heads there is no difference",
    read: ONE_A_HEAD,
    answer: |input| {
        Steps { mask: |input, _| input.mask.of_head(0), ..Steps::RIGHT }.run(input)
    },
};

/// Masks in the wrong order.
pub const MASKS_REVERSED: Mistake<Input, Attended> = Mistake {
    name: "gives the masks to the heads in reverse order",
    does: "Each head gets a mask that is meant for another",
    looks_right: "There are as many masks as heads, and each has the right shape",
    read: MASKS_WRONG,
    answer: |input| Steps { mask: mask_from_the_end, ..Steps::RIGHT }.run(input),
};

fn mask_from_the_end(input: &Input, i: usize) -> Cow<'_, Mask> {
    input.mask.of_head(input.parameters.heads().len() - 1 - i)
}
