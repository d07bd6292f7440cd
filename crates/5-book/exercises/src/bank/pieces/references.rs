//! Mistakes with the reference: which score the pieces are made relative to.

use super::steps::{
    RIGHT, RIGHT_BUT_FOR_NOTHING, Steps, at_once, divided, factor, largest, seen,
};
use super::{Input, Named, TOKENS};
use crate::{Mistake, Section};

const HUGE: Section = Section::new("bad-numbers", "Huge scores");

/// With a guard against a sum of 0, or without.
const fn no_reference(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "subtracts nothing from the references",
        does: "Its factors are exp(m). For m near 1000 that is ∞, and ∞ / ∞ is NaN; for m \
            near −1000 every factor is 0",
        looks_right: "One factor that is common to all pieces cancels in o / l, so with small \
            scores it is right",
        read: HUGE,
        answer,
    }
}

/// Without a guard.
pub(super) const NONE: Named =
    no_reference(|input| at_once(input, f64::exp, |o, l| o / l));

/// With a guard against a sum of 0.
pub(super) const NONE_GUARDED: Named =
    no_reference(|input| at_once(input, f64::exp, divided));

/// With a guard only where no piece saw a key.
pub(super) const NONE_GUARDED_FOR_NOTHING: Named = no_reference(|input| {
    let is_nothing = largest(&input.pieces) == f64::NEG_INFINITY;
    at_once(input, f64::exp, if is_nothing { divided } else { |o, l| o / l })
});

/// With a guard where all saw nothing, or without.
const fn starts_at_0(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "starts its maximum at 0 or near it",
        does: "References far below 0 are compared with a score that no key has, and all \
            factors are 0",
        looks_right: "A sum starts at 0, and a little below 0 it makes no difference; but a \
            maximum starts at −∞, f64::NEG_INFINITY",
        read: HUGE,
        answer,
    }
}

/// Without a guard.
pub(super) const FROM_0: Named = starts_at_0(|input| {
    let common = largest(&input.pieces).max(0.0);
    at_once(input, |m| factor(m, common), |o, l| o / l)
});

/// With a guard against a sum of 0.
pub(super) const FROM_0_GUARDED: Named = starts_at_0(|input| {
    let common = largest(&input.pieces).max(0.0);
    at_once(input, |m| factor(m, common), divided)
});

/// With a guard only where no piece saw a key.
pub(super) const FROM_0_GUARDED_FOR_NOTHING: Named = starts_at_0(|input| {
    let largest = largest(&input.pieces);
    let finish = if largest.is_finite() { |o, l| o / l } else { divided };
    at_once(input, |m| factor(m, largest.max(0.0)), finish)
});

/// Pieces that saw nothing left out, or not.
const fn keeps_the_first_reference(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "takes the first piece's reference for all",
        does: "A later piece with much larger scores gets a factor of ∞, and ∞ / ∞ is NaN",
        looks_right: "In exact arithmetic o / l does not depend on the reference at all",
        read: HUGE,
        answer,
    }
}

/// Pieces that saw nothing counted.
pub(super) const FIRST: Named = keeps_the_first_reference(|input| {
    let first = input.pieces[0].m;
    at_once(input, |m| (m - first).exp(), |o, l| o / l)
});

/// Pieces that saw nothing left out.
pub(super) const FIRST_THAT_SAW: Named = keeps_the_first_reference(|input| {
    Steps { reference: |[ours, _]| ours, ..RIGHT }.onto_first_that_saw(input)
});

/// The smaller of two, or a mean; pieces that saw nothing left out, or not.
const fn takes_a_smaller_reference(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "takes a reference below the largest",
        does: "With the smaller of two references, or a mean of them, some factors are above \
            1. Where references are far apart one of them is ∞, and ∞ / ∞ is NaN",
        looks_right: "In exact arithmetic o / l does not depend on the reference at all",
        read: HUGE,
        answer,
    }
}

/// A mean of those that saw a key.
pub(super) const MEAN: Named = takes_a_smaller_reference(|input| {
    let seen = seen(input);
    let sum: f64 = seen.iter().map(|piece| piece.m).sum();
    let mean = sum / seen.len().max(1) as f64;
    at_once(input, |m| factor(m, mean), divided)
});

pub(super) const LARGEST_SIZE: Named = Mistake {
    name: "takes the largest |m| for the reference",
    does: "For a piece with m near −1000 it subtracts 1000, and its factor is that of a \
        key 2000 below the best one: 0",
    looks_right: "Where the largest m is also the largest without its sign, it is right",
    read: HUGE,
    answer: |input| {
        let sizes = input.pieces.iter().filter(|piece| piece.l > 0.0);
        let common = sizes.map(|piece| piece.m.abs()).fold(0.0, f64::max);
        at_once(input, |m| factor(m, common), divided)
    },
};

/// Pieces that saw nothing left out, or not.
const fn takes_the_last_reference(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "takes the newest piece's reference",
        does: "If the newest piece has much lower scores, what came before gets a factor of \
            ∞, and ∞ / ∞ is NaN",
        looks_right: "In exact arithmetic o / l does not depend on the reference at all",
        read: HUGE,
        answer,
    }
}

/// All at once.
pub(super) const LAST: Named = takes_the_last_reference(|input| {
    let last = input.pieces[input.pieces.len() - 1].m;
    at_once(input, |m| (m - last).exp(), |o, l| o / l)
});

/// Step by step, pieces that saw nothing left out.
pub(super) const NEWEST_THAT_SAW: Named = takes_the_last_reference(|input| {
    Steps { reference: |[_, theirs]| theirs, ..RIGHT }.onto_first_that_saw(input)
});

/// Step by step, pieces that saw nothing counted.
pub(super) const NEWEST: Named = takes_the_last_reference(|input| {
    Steps { reference: |[_, theirs]| theirs, ..RIGHT_BUT_FOR_NOTHING }.run(input)
});

/// The smaller of two, pieces that saw nothing counted.
pub(super) const SMALLER: Named = takes_a_smaller_reference(|input| {
    let reference = |[ours, theirs]: [f64; 2]| ours.min(theirs);
    Steps { reference, ..RIGHT_BUT_FOR_NOTHING }.onto_first(input)
});

/// The smaller of two, pieces that saw nothing left out.
pub(super) const SMALLER_THAT_SAW: Named = takes_a_smaller_reference(|input| {
    let reference = |[ours, theirs]: [f64; 2]| ours.min(theirs);
    Steps { reference, ..RIGHT }.onto_first_that_saw(input)
});

pub(super) const NOT_KEPT: Named = Mistake {
    name: "does not keep the new reference",
    does: "Every merge rescales what it has from the first piece's reference, also if \
        it was rescaled to a larger one before",
    looks_right: "The first merge is right, and with references that fall so are all",
    read: TOKENS,
    answer: |input| {
        let first = input.pieces[0].clone();
        let mut all = first.clone();
        for next in &input.pieces[1..] {
            RIGHT.merge(&mut all, next);
            all.m = first.m;
        }
        RIGHT.finished(&all)
    },
};
