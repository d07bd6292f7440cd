//! Mistakes with the factors that rescale l and o to the common reference.

use super::steps::{
    Factors, RIGHT, Steps, at_once, both, divided, factor, largest, right,
};
use super::{Input, Named, TOKENS};
use crate::Mistake;

pub(super) const NONE: Named = Mistake {
    name: "adds up l and o as they are",
    does: "Each piece is relative to the largest score of its own block, so a block of \
        low scores counts as much as one of high scores",
    looks_right: "Both are sums over keys, and sums over more keys are added up; where \
        all references are equal it is right",
    read: TOKENS,
    answer: |input| at_once(input, |_| 1.0, divided),
};

/// Of either piece, or of both.
const fn only_l(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "rescales l and not o",
        does: "The sums are relative to one reference, and the outputs are not: o / l \
            divides numbers of different scales",
        looks_right: "m and l are right, and where all references are equal so is o",
        read: TOKENS,
        answer,
    }
}

/// Of both.
pub(super) const ONLY_L: Named = only_l(|input| {
    let factors = |m, c| Factors { o: [1.0, 1.0], ..right(m, c) };
    Steps { factors, ..RIGHT }.run(input)
});

/// Of what was merged so far.
pub(super) const ONLY_L_OF_MERGED: Named = only_l(|input| {
    let factors =
        |[m, n]: [f64; 2], c| Factors { o: [1.0, factor(n, c)], ..right([m, n], c) };
    Steps { factors, ..RIGHT }.run(input)
});

/// Of the next piece.
pub(super) const ONLY_L_OF_NEXT: Named = only_l(|input| {
    let factors =
        |[m, n]: [f64; 2], c| Factors { o: [factor(m, c), 1.0], ..right([m, n], c) };
    Steps { factors, ..RIGHT }.run(input)
});

/// Of either piece, or of both.
const fn only_o(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "rescales o and not l",
        does: "The outputs are relative to one reference, and the sums are not: o / l \
            divides numbers of different scales",
        looks_right: "m and o are right, and where all references are equal so is l",
        read: TOKENS,
        answer,
    }
}

/// Of both.
pub(super) const ONLY_O: Named = only_o(|input| {
    let factors = |m, c| Factors { l: [1.0, 1.0], ..right(m, c) };
    Steps { factors, ..RIGHT }.run(input)
});

/// Of what was merged so far.
pub(super) const ONLY_O_OF_MERGED: Named = only_o(|input| {
    let factors =
        |[m, n]: [f64; 2], c| Factors { l: [1.0, factor(n, c)], ..right([m, n], c) };
    Steps { factors, ..RIGHT }.run(input)
});

/// Of the next piece.
pub(super) const ONLY_O_OF_NEXT: Named = only_o(|input| {
    let factors =
        |[m, n]: [f64; 2], c| Factors { l: [factor(m, c), 1.0], ..right([m, n], c) };
    Steps { factors, ..RIGHT }.run(input)
});

pub(super) const NONE_FOR_MERGED: Named = Mistake {
    name: "does not rescale what it has merged so far",
    does: "Only the next piece gets a factor. When that raises the reference, all \
        before it stays relative to the old one and counts too much. A reference that is \
        replaced before the factors are computed does the same",
    looks_right: "While the reference stays it is right",
    read: TOKENS,
    answer: |input| {
        let factors = |[_, n]: [f64; 2], c| both([1.0, factor(n, c)]);
        Steps { factors, ..RIGHT }.run(input)
    },
};

pub(super) const NONE_FOR_NEXT: Named = Mistake {
    name: "does not rescale the next piece",
    does: "Only what it has so far gets a factor. A piece with lower scores stays \
        relative to its own reference and counts too much",
    looks_right: "It is right whenever the next piece raises the reference",
    read: TOKENS,
    answer: |input| {
        let factors = |[m, _]: [f64; 2], c| both([factor(m, c), 1.0]);
        Steps { factors, ..RIGHT }.run(input)
    },
};

pub(super) const EXCHANGED: Named = Mistake {
    name: "exchanges the two factors",
    does: "What it has so far gets the factor of the next piece, and that gets the \
        factor of what was before",
    looks_right: "Both factors are right, and where they are equal so is the result",
    read: TOKENS,
    answer: |input| {
        let factors = |[m, n]: [f64; 2], c| right([n, m], c);
        Steps { factors, ..RIGHT }.onto_first(input)
    },
};

/// Of either piece, or of both; NaN where a piece saw nothing, or not.
const fn wrong_sign(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "has the sign of an exponent reversed",
        does: "It multiplies by exp(m'' − m), where m'' is the larger reference. So a piece \
            with low scores becomes larger where it must become smaller",
        looks_right: "It is a factor between the same two references, and 1 where they are \
            equal",
        read: TOKENS,
        answer,
    }
}

/// Of both, and a piece that saw nothing keeps its zeros.
pub(super) const WRONG_SIGN: Named = wrong_sign(|input| {
    let factors = |m: [f64; 2], c| both(m.map(|m| inverse(m, c)));
    Steps { factors, ..RIGHT }.run(input)
});

/// Of both, and NaN where a piece saw nothing.
pub(super) const WRONG_SIGN_OR_NAN: Named = wrong_sign(|input| {
    let factors = |m: [f64; 2], c: f64| both(m.map(|m| (c - m).exp()));
    Steps { factors, ..RIGHT }.onto_first(input)
});

/// Of what was merged so far.
pub(super) const WRONG_SIGN_FOR_MERGED: Named = wrong_sign(|input| {
    let factors = |[m, n]: [f64; 2], c| both([inverse(m, c), factor(n, c)]);
    Steps { factors, ..RIGHT }.run(input)
});

/// Of the next piece.
pub(super) const WRONG_SIGN_FOR_NEXT: Named = wrong_sign(|input| {
    let factors = |[m, n]: [f64; 2], c| both([factor(m, c), inverse(n, c)]);
    Steps { factors, ..RIGHT }.run(input)
});

pub(super) const SQUARED: Named = Mistake {
    name: "rescales twice",
    does: "It multiplies by the square of each factor, so a piece with lower scores \
        nearly vanishes",
    looks_right: "The factors are right, and where they are 1 nothing shows",
    read: TOKENS,
    answer: |input| {
        let factors = |m: [f64; 2], c| both(m.map(|m| factor(m, c).powi(2)));
        Steps { factors, ..RIGHT }.run(input)
    },
};

pub(super) const POWERS_OF_2: Named = Mistake {
    name: "takes powers of 2",
    does: "Its factors are 2^(m − m''), and l and o are sums of powers of e",
    looks_right: "Fast kernels do it, with scores that are multiplied by log₂ e before",
    read: TOKENS,
    answer: |input| {
        let common = largest(&input.pieces);
        let common = if common.is_finite() { common } else { 0.0 };
        at_once(input, |m| (m - common).exp2(), divided)
    },
};

/// The sign the wrong way round; a piece that saw nothing has none.
fn inverse(m: f64, common: f64) -> f64 {
    if m == f64::NEG_INFINITY { 1.0 } else { (common - m).exp() }
}
