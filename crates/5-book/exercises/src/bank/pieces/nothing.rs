//! Mistakes that only show where a piece saw no key.

use super::steps::{RIGHT, RIGHT_BUT_FOR_NOTHING, Steps, seen};
use super::{Input, Named};
use crate::{Mistake, Section};

const NOTHING: Section = Section::new("bad-numbers", "A query with nothing to attend to");

/// Merged into a piece that saw nothing, or into the first.
const fn nan_of_nothing(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "makes NaN of two pieces that saw no key",
        does: "Both have the reference −∞, as a merge has before its first piece, and \
            −∞ − (−∞) is NaN. It never goes away again",
        looks_right: "It is the formula, and right as soon as one of the two saw a key",
        read: NOTHING,
        answer,
    }
}

/// Merged into a piece that saw nothing.
pub(super) const NAN_FROM_NOTHING: Named =
    nan_of_nothing(|input| RIGHT_BUT_FOR_NOTHING.run(input));

/// Merged into the first piece.
pub(super) const NAN_FROM_THE_FIRST: Named =
    nan_of_nothing(|input| RIGHT_BUT_FOR_NOTHING.onto_first(input));

pub(super) const PIECE_WITHOUT_KEY: Named = Mistake {
    name: "divides 0 by 0 for a piece that saw no key",
    does: "It takes o / l of each piece, and where l is 0 that is NaN. A factor of 0 does \
        not help, since 0 · NaN is NaN",
    looks_right: "Where every rank has a key that the query may see, it is right",
    read: NOTHING,
    answer: |input| match seen(input).len() == input.pieces.len() {
        true => RIGHT.run(input),
        false => vec![f64::NAN; input.d_v()],
    },
};

pub(super) const NO_PIECE_WITH_A_KEY: Named = Mistake {
    name: "has no answer where no piece saw a key",
    does: "m is then −∞ and l is 0. Both −∞ − (−∞) and 0 / 0 are NaN. Such a query \
        reads nothing, and its output is 0",
    looks_right: "It is the formula, and right as soon as one piece saw a key",
    read: NOTHING,
    answer: |input| Steps { finish: |o, l| o / l, ..RIGHT }.run(input),
};
