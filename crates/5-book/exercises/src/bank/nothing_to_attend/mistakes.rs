//! What people write instead.

use attention::{Matrix, softmax_rows};

use super::{
    BAD, EXERCISE, Input, MASKS, NOTHING, exponentials, one_for_none, open_exponentials,
};
use crate::{Mistake, Section};

const MASK: Section = Section::new(MASKS, "A mask says who may look at whom");
const FILL: Section = Section::new(BAD, "−∞ or −1e9?");
const BEFORE: Section = Section::new(MASKS, "The mask comes before softmax");
const MULTIPLY: Section = Section::new(MASKS, "Two ways to multiply, both wrong");
const HUGE: Section = Section::new(BAD, "Huge scores");
const WRONG: Section = Section::new(MASKS, "What people get wrong");
const NAN: Section = Section::new(BAD, "How far a NaN gets");
const SHARES: Section =
    Section::new("scores-softmax-scale", "From scores to shares: softmax");
const SCORES_WRONG: Section =
    Section::new("scores-softmax-scale", "What people get wrong");

/// The bare formula. A row whose exponentials are all 0 divides 0 by 0, or is taken for one
/// without a key.
const NO_MAXIMUM: Mistake<Input, Matrix> = Mistake {
    name: "does not subtract the largest open score",
    does: "A row of scores near −800 has exponentials of 0 alone, and comes out as NaN or as \
        a query with nothing to attend to; a row near 800 has exponentials of ∞",
    looks_right: "It is softmax by the formula, and right for scores near 0",
    read: HUGE,
    answer: |input| without_maximum(input, |sum| sum),
};

/// `fold(0.0, f64::max)`.
const MAXIMUM_FROM_0: Mistake<Input, Matrix> = Mistake {
    name: "starts its maximum at 0",
    does: "A fold from 0.0, or from f64::MIN_POSITIVE, which is the smallest number above 0, \
        never falls below it. So a row of scores near −800 has exponentials of 0 alone, and \
        comes out as NaN or as a query with nothing to attend to",
    looks_right: "A sum starts at 0; but a maximum starts at −∞, f64::NEG_INFINITY",
    read: HUGE,
    answer: |input| maximum_from_0(input, |sum| sum),
};

/// One maximum for all rows, as `scores.max()` gives it.
const MAXIMUM_OF_ALL: Mistake<Input, Matrix> = Mistake {
    name: "subtracts the largest open score of all queries",
    does: "A row whose scores lie far below those of another has exponentials of 0 alone, \
        and comes out as NaN or as a query with nothing to attend to",
    looks_right: "No exponential is larger than 1, and any number may be subtracted from a \
        row",
    read: HUGE,
    answer: |input| maximum_of_all(input, |sum| sum),
};

/// All of them.
pub const ALL: &[Mistake<Input, Matrix>] = &[
    Mistake {
        name: "leaves NaN in a row without a key",
        does: "It divides 0 by 0 where every key is blocked",
        looks_right: "It is softmax by the formula, and every other row is right",
        read: NOTHING,
        answer: |input| input.shared_out(&open_exponentials(input), |sum| sum),
    },
    Mistake {
        name: "replaces blocked scores by −1e9",
        does: "In a row without a key all scores are equal then, and the query attends \
            evenly to the very keys that it may not see",
        looks_right: "Every row sums to 1, and every row with a key is right",
        read: FILL,
        answer: |input| softmax_rows(input.each(|s, open| if open { s } else { -1e9 })),
    },
    Mistake {
        name: "adds −1e9 to blocked scores",
        does: "A row without a key comes out as if there were no mask, and what was NaN \
            or larger stays in play",
        looks_right: "While a row has a key and all scores are ordinary numbers, it is \
            right",
        read: FILL,
        answer: |input| added_to_blocked(input, -1e9),
    },
    Mistake {
        name: "adds −∞ to blocked scores and does not replace them",
        does: "A blocked score that is NaN or ∞ becomes NaN, and its row with it",
        looks_right: "It is how the formula writes the mask, and every number below ∞ \
            does become −∞",
        read: MASK,
        answer: |input| added_to_blocked(input, f64::NEG_INFINITY),
    },
    Mistake {
        name: "multiplies the scores by the mask",
        does: "A blocked score becomes 0, whose share is not 0, or stays NaN: 0 · NaN \
            and 0 · ∞ are NaN",
        looks_right: "Times 0 sounds like taking away",
        read: MULTIPLY,
        answer: |input| softmax_rows(input.each(|s, open| s * f64::from(open))),
    },
    Mistake {
        name: "gives blocked scores 0",
        does: "exp(0) is 1, so a blocked key still has a share, and more than an open one \
            whose score is below 0",
        looks_right: "0 sounds like nothing, and no NaN is left",
        read: MULTIPLY,
        answer: |input| softmax_rows(input.each(|s, open| if open { s } else { 0.0 })),
    },
    Mistake {
        name: "never looks at the mask",
        does: "It makes shares of all scores, so a blocked key has one too, and a NaN that \
            is blocked takes its row",
        looks_right: "Every row of ordinary numbers sums to 1",
        read: MASK,
        answer: |input| softmax_rows(input.scores.clone()),
    },
    Mistake {
        name: "masks after the softmax",
        does: "Blocked keys take their part of the 1 and are then set to 0, so a row sums \
            to less; and a NaN among them takes the row",
        looks_right: "Blocked keys have a share of 0, and a row without a key is zeros",
        read: BEFORE,
        answer: |input| {
            let attn = softmax_rows(input.scores.clone());
            attn.zip_map(&input.allowed, |share, open| if open { share } else { 0.0 })
        },
    },
    Mistake {
        name: "masks after the softmax and shares out anew",
        does: "The shares come from all scores, so a NaN among the blocked ones takes \
            the row, and a huge one leaves nothing for the others",
        looks_right: "With ordinary numbers it is the same as a mask before",
        read: BEFORE,
        answer: |input| {
            input.shared_out(&softmax_rows(input.scores.clone()), one_for_none)
        },
    },
    Mistake {
        name: "replaces NaN by 0 at the end",
        does: "It clears every row with a NaN in it, also one that has keys and a NaN \
            only among the blocked",
        looks_right: "Nothing is NaN any more, and rows without a key are zeros",
        read: NAN,
        answer: cleared_at_the_end,
    },
    Mistake {
        name: "adds a small number to every sum",
        does: "Without the row's largest score taken off first, a row of low scores has \
            a sum far below that number, and its shares vanish",
        looks_right: "Nothing is divided by 0, and where scores are near 0 no digit \
            changes that you would see",
        read: HUGE,
        answer: |input| input.shared_out(&input.scores.map(f64::exp), |sum| sum + 1e-9),
    },
    NO_MAXIMUM,
    Mistake { answer: |input| without_maximum(input, one_for_none), ..NO_MAXIMUM },
    MAXIMUM_FROM_0,
    Mistake { answer: |input| maximum_from_0(input, one_for_none), ..MAXIMUM_FROM_0 },
    MAXIMUM_OF_ALL,
    Mistake { answer: |input| maximum_of_all(input, one_for_none), ..MAXIMUM_OF_ALL },
    Mistake {
        name: "does not divide by the sum of the row",
        does: "Each open key keeps its exponential, and the largest of a row is 1",
        looks_right: "Blocked keys have 0, a row without a key is zeros, and the shares \
            stand in the right proportion",
        read: SHARES,
        answer: |input| input.shared_out(&open_exponentials(input), |_| 1.0),
    },
    Mistake {
        name: "shares out each key among the queries",
        does: "It works down the columns, so that each column sums to 1 and the rows do \
            not",
        looks_right: "Blocked entries are 0, and a query with nothing to attend to has \
            zeros",
        read: SCORES_WRONG,
        answer: down_the_columns,
    },
    Mistake {
        name: "leaves the scores in a row without a key",
        does: "It works on a copy of the scores and passes over a row in which nothing is \
            open, so that row still holds scores and no shares",
        looks_right: "Nothing is divided by 0, and every other row is right",
        read: NOTHING,
        answer: scores_where_none,
    },
    Mistake {
        name: "gives a row without a key equal shares",
        does: "Each key gets 1/n, and the query attends evenly to the very keys that it \
            may not see. A fill by f64::MIN does the same",
        looks_right: "Every row sums to 1, and every row with a key is right",
        read: NOTHING,
        answer: equal_where_none,
    },
    Mistake {
        name: "inverts the mask",
        does: "It shares out each row among the keys that are blocked, and gives those \
            that are open 0",
        looks_right: "Some libraries mean “blocked” by true",
        read: WRONG,
        answer: |input| {
            let allowed = input.allowed.map(|open| !open);
            let turned = Input { scores: input.scores.clone(), allowed };
            turned.shared_out(&open_exponentials(&turned), one_for_none)
        },
    },
    Mistake {
        name: "makes the −∞ by multiplying",
        does: "It adds a table of 0 and 1 times −∞; where the table is 0, that is \
            0 · ∞, which is NaN, and the row is lost",
        looks_right: "A table of 0 and 1, times −∞, reads like one of 0 and −∞",
        read: MULTIPLY,
        answer: |input| {
            let blocked = |open| if open { 0.0 } else { 1.0 };
            softmax_rows(input.each(|s, open| s + blocked(open) * f64::NEG_INFINITY))
        },
    },
    Mistake {
        name: "takes the largest score before it masks",
        does: "It subtracts a maximum that may be a blocked score; if that is huge, \
            every open key's exponential is 0",
        looks_right: "Any number may be subtracted from a row, as long as exponentials \
            can still be told from 0",
        read: HUGE,
        answer: largest_of_all,
    },
    Mistake {
        name: "leaves key 0 out",
        does: "Its loop over the keys begins at 1",
        looks_right: "Rows sum to 1, or to 0",
        read: MASK,
        answer: |input| input.without_key(0),
    },
    Mistake {
        name: "leaves the last key out",
        does: "Its loop over the keys ends one too early",
        looks_right: "Rows sum to 1, or to 0",
        read: MASK,
        answer: |input| input.without_key(input.allowed.ncols() - 1),
    },
    Mistake {
        name: "reads the mask transposed",
        does: "It asks allowed[(j, i)] where allowed[(i, j)] belongs: whether the key may attend to the query",
        looks_right: "With as many keys as queries there is such an entry",
        read: MASK,
        answer: |input| {
            let allowed =
                Matrix::from_fn(input.allowed.nrows(), input.allowed.ncols(), |i, j| {
                    input.allowed[(j, i)]
                });
            let scores = input.scores.clone();
            (EXERCISE.reference)(&Input { scores, allowed })
        },
    },
];

fn added_to_blocked(input: &Input, added: f64) -> Matrix {
    softmax_rows(input.each(|s, open| if open { s } else { s + added }))
}

fn cleared_at_the_end(input: &Input) -> Matrix {
    let attn = added_to_blocked(input, f64::NEG_INFINITY);
    attn.map(|weight| if weight.is_nan() { 0.0 } else { weight })
}

fn largest_of_all(input: &Input) -> Matrix {
    input.shared_out(&exponentials(input.scores.clone()), one_for_none)
}

/// Shares of the open keys, whose sum a row without a key does not divide by.
fn of_open_keys(input: &Input, weights: &Matrix, divisor: fn(f64) -> f64) -> Matrix {
    let (n_q, n_kv) = input.scores.shape();
    let mut attn = Matrix::zeros(n_q, n_kv);
    for i in 0..n_q {
        let open = || (0..n_kv).filter(|&j| input.allowed[(i, j)]);
        let sum: f64 = open().map(|j| weights[(i, j)]).sum();
        open().for_each(|j| attn[(i, j)] = weights[(i, j)] / divisor(sum));
    }
    attn
}

fn without_maximum(input: &Input, divisor: fn(f64) -> f64) -> Matrix {
    of_open_keys(input, &input.scores.map(f64::exp), divisor)
}

fn maximum_from_0(input: &Input, divisor: fn(f64) -> f64) -> Matrix {
    let mut weights = input.each(|s, open| if open { s } else { f64::NEG_INFINITY });
    for mut row in weights.row_iter_mut() {
        let largest = row.iter().copied().fold(0.0, f64::max);
        row.apply(|s| *s = (*s - largest).exp());
    }
    of_open_keys(input, &weights, divisor)
}

fn equal_where_none(input: &Input) -> Matrix {
    let mut attn = (EXERCISE.reference)(input);
    let equal = 1.0 / attn.ncols() as f64;
    for mut row in attn.row_iter_mut().filter(|row| row.sum() == 0.0) {
        row.fill(equal);
    }
    attn
}

fn maximum_of_all(input: &Input, divisor: fn(f64) -> f64) -> Matrix {
    let open = input.each(|s, open| if open { s } else { f64::NEG_INFINITY });
    let largest = open.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    of_open_keys(input, &open.map(|s| (s - largest).exp()), divisor)
}

fn down_the_columns(input: &Input) -> Matrix {
    let transposed =
        Input { scores: input.scores.transpose(), allowed: input.allowed.transpose() };
    (EXERCISE.reference)(&transposed).transpose()
}

fn scores_where_none(input: &Input) -> Matrix {
    let mut attn = (EXERCISE.reference)(input);
    for i in (0..attn.nrows()).filter(|&i| !input.allowed.row(i).iter().any(|&open| open))
    {
        attn.set_row(i, &input.scores.row(i));
    }
    attn
}
