//! Mistakes in the last step: what o is divided by, and when.

use super::steps::{Factors, RIGHT, Steps, divided, divided_piece, factor, right};
use super::{Input, Named, Piece, TOKENS};
use crate::Mistake;

pub(super) const TWICE: Named = Mistake {
    name: "divides by l twice",
    does: "It divides the sum of all o by the sum of all l, and the result by it again",
    looks_right: "Both sums are right, and where l is 1 it is right",
    read: TOKENS,
    answer: |input| {
        Steps { finish: |o, l| divided(divided(o, l), l), ..RIGHT }.run(input)
    },
};

pub(super) const NONE: Named = Mistake {
    name: "does not divide by l",
    does: "It returns the sum of all o, whose shares sum to l and not to 1",
    looks_right: "The merge is right, and only its last line is missing",
    read: TOKENS,
    answer: |input| Steps { finish: |o, _| o, ..RIGHT }.run(input),
};

pub(super) const BY_THE_NUMBER: Named = Mistake {
    name: "divides by the number of pieces in place of l",
    does: "It takes the mean of the rescaled o, whose shares then have any sum",
    looks_right: "The factors are right, and a mean is what many things are merged by",
    read: TOKENS,
    answer: |input| {
        let sum = Steps { finish: |o, _| o, ..RIGHT }.run(input);
        sum.iter().map(|o| o / input.pieces.len() as f64).collect()
    },
};

pub(super) const BY_L_AND_THE_NUMBER: Named = Mistake {
    name: "divides by l and by the number of pieces",
    does: "The right output comes out smaller, and the more ranks there are the \
        smaller",
    looks_right: "With one piece it is right",
    read: TOKENS,
    answer: |input| {
        RIGHT.run(input).iter().map(|o| o / input.pieces.len() as f64).collect()
    },
};

/// And once more at the end, or not.
const fn divides_after_each(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "divides after every merge",
        does: "It makes an average of what it has and then adds a piece that is not one. \
            The division comes once, after the last piece",
        looks_right: "After the first piece it is what the query would read",
        read: TOKENS,
        answer,
    }
}

/// Not once more at the end.
pub(super) const AFTER_EACH: Named =
    divides_after_each(|input| after_each(input, |o, _| o));

/// Once more at the end.
pub(super) const AFTER_EACH_AND_AT_THE_END: Named =
    divides_after_each(|input| after_each(input, divided));

/// With that piece's factor, or without.
const fn divides_by_the_last(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "divides by the last piece's l",
        does: "o is the sum over all pieces, and l that of the last piece alone",
        looks_right: "m and o are right, and with one piece so is l",
        read: TOKENS,
        answer,
    }
}

/// With that piece's factor.
pub(super) const BY_THE_LAST: Named = divides_by_the_last(|input| {
    let factors = |m: [f64; 2], c| Factors { l: [0.0, factor(m[1], c)], ..right(m, c) };
    Steps { factors, ..RIGHT }.run(input)
});

/// Without a factor.
pub(super) const BY_THE_LAST_BARE: Named = divides_by_the_last(|input| {
    let l = input.pieces[input.pieces.len() - 1].l;
    let sum = Steps { finish: |o, _| o, ..RIGHT }.run(input);
    sum.into_iter().map(|o| divided(o, l)).collect()
});

fn after_each(input: &Input, finish: fn(f64, f64) -> f64) -> Vec<f64> {
    let mut all = Piece::nothing(input.d_v());
    for next in &input.pieces {
        RIGHT.merge(&mut all, next);
        all = divided_piece(&all);
    }
    Steps { finish, ..RIGHT }.finished(&all)
}
