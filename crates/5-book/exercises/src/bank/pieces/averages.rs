//! Mistakes that average the pieces' outputs by wrong weights, or take o for an average.

use super::steps::{
    Factors, RIGHT, divided, divided_piece, factor, larger, largest, right, seen,
};
use super::{Input, Named, Piece, TOKENS};
use crate::{Mistake, Section};

const WRONG: Section = Section::new("many-machines", "What people get wrong");

pub(super) const SUM: Named = Mistake {
    name: "adds up the pieces' outputs",
    does: "It divides each piece by its own l and adds, so its shares sum to the number \
        of pieces and not to 1",
    looks_right: "With one piece it is right, and a sum over heads is added up like this",
    read: WRONG,
    answer: |input| {
        let outputs = outputs(&input.pieces);
        weighted(input, &outputs, &vec![1.0; outputs.len()])
    },
};

/// Those that saw nothing counted, or not.
const fn takes_the_mean(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "takes the mean of the pieces' outputs",
        does: "It divides each piece by its own l and gives every piece the same share, \
            however little its keys weigh next to those of the others",
        looks_right: "Where all blocks have like scores it is nearly right, and with one \
            piece it is right",
        read: WRONG,
        answer,
    }
}

/// Those that saw nothing counted.
pub(super) const MEAN: Named = takes_the_mean(|input| mean(input, &input.pieces));

/// Those that saw nothing left out.
pub(super) const MEAN_OF_SEEN: Named = takes_the_mean(|input| mean(input, &seen(input)));

/// From zeros or from the first piece.
const fn averages_pairs(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "averages two outputs at a time",
        does: "It divides each piece by its own l and takes half of what it has and half of \
            the next, so of 8 pieces the last has half of all shares",
        looks_right: "It goes piece by piece, as a ring does, and an average of averages \
            seems to be one",
        read: WRONG,
        answer,
    }
}

/// From the first piece.
pub(super) const PAIRS: Named = averages_pairs(|input| halves(input, &input.pieces));

/// From the first piece that saw a key.
pub(super) const PAIRS_OF_SEEN: Named =
    averages_pairs(|input| halves(input, &seen(input)));

/// From zeros.
pub(super) const PAIRS_FROM_ZEROS: Named = averages_pairs(|input| {
    halves(input, &[&[Piece::nothing(input.d_v())], input.pieces.as_slice()].concat())
});

pub(super) const DIVIDED_BEFORE: Named = Mistake {
    name: "divides every piece before it merges them",
    does: "It divides o by the piece's own l, and the sum of such o by the sum of all l: \
        a block's output loses the weight that its l is",
    looks_right: "Both divisions are known from one machine, and all factors are right",
    read: TOKENS,
    answer: |input| {
        let divided = Input {
            pieces: input.pieces.iter().map(divided_piece).collect(),
            at_once: input.at_once.clone(),
        };
        RIGHT.run(&divided)
    },
};

pub(super) const BY_REFERENCES: Named = Mistake {
    name: "weighs the pieces' outputs by exp(m − m'') alone",
    does: "It takes a softmax of the references. The weight of a piece is \
        exp(m − m'') · l, which also says how many keys scored near the best one",
    looks_right: "The shares sum to 1, and with one key per block it is right",
    read: TOKENS,
    answer: |input| {
        let pieces: Vec<Piece> = input.pieces.iter().map(divided_piece).collect();
        let common = largest(&pieces);
        let exp: Vec<f64> = pieces.iter().map(|p| factor(p.m, common)).collect();
        let sum: f64 = exp.iter().sum();
        let weights: Vec<f64> = exp.iter().map(|&x| divided(x, sum)).collect();
        weighted(input, &outputs(&input.pieces), &weights)
    },
};

pub(super) const BY_THE_FACTORS: Named = Mistake {
    name: "divides by the sum of the factors",
    does: "It adds up exp(m − m'') · o and divides by the sum of exp(m − m''), without l. \
        So its shares sum to more than 1 where a block has more than one key",
    looks_right: "It is an average whose weights are a softmax of the references; but o \
        is a sum and no average",
    read: TOKENS,
    answer: |input| {
        let with_l_1 = |piece: &Piece| {
            let l = if piece.l == 0.0 { 0.0 } else { 1.0 };
            Piece { l, ..piece.clone() }
        };
        let pieces: Vec<Piece> = input.pieces.iter().map(with_l_1).collect();
        RIGHT.onto(Piece::nothing(input.d_v()), &pieces)
    },
};

pub(super) const BY_M_PLUS_L: Named = Mistake {
    name: "takes m + l for the log-sum-exp",
    does: "It weighs the pieces' outputs by a softmax of m + l. The log-sum-exp of a \
        piece is m + ln l",
    looks_right: "With one key per block it is right",
    read: TOKENS,
    answer: |input| {
        let pieces = seen(input);
        let sum = |piece: &Piece| piece.m + piece.l;
        let largest = pieces.iter().map(sum).fold(f64::NEG_INFINITY, f64::max);
        let exp: Vec<f64> = pieces.iter().map(|p| (sum(p) - largest).exp()).collect();
        let total: f64 = exp.iter().sum();
        let weights: Vec<f64> = exp.iter().map(|x| x / total).collect();
        weighted(input, &outputs(&pieces), &weights)
    },
};

/// All at once, or from an average to the next.
const fn takes_o_for_an_average(answer: fn(&Input) -> Vec<f64>) -> Named {
    Mistake {
        name: "takes o for an average",
        does: "It multiplies o by exp(m − m'') · l, which is the weight of o / l. But o was \
            not divided, so l counts twice",
        looks_right: "The weights are those of the pieces' outputs, and where l is 1 it is \
            right",
        read: TOKENS,
        answer,
    }
}

/// All at once.
pub(super) const O_TIMES_L: Named = takes_o_for_an_average(|input| {
    let multiplied = |piece: &Piece| {
        let o = piece.o.iter().map(|o| o * piece.l).collect();
        Piece { o, ..piece.clone() }
    };
    let pieces: Vec<Piece> = input.pieces.iter().map(multiplied).collect();
    RIGHT.onto(Piece::nothing(input.d_v()), &pieces)
});

/// From an average to the next.
pub(super) const O_TIMES_L_STEP_BY_STEP: Named = takes_o_for_an_average(|input| {
    let mut average = RIGHT.finished(&input.pieces[0]);
    let mut all = input.pieces[0].clone();
    for next in &input.pieces[1..] {
        let Factors { l: factors, .. } = right([all.m, next.m], larger([all.m, next.m]));
        let shares = [factors[0] * all.l, factors[1] * next.l];
        RIGHT.merge(&mut all, next);
        let sums = weighted(input, &[average, next.o.clone()], &shares);
        average = sums.iter().map(|&o| divided(o, all.l)).collect();
    }
    average
});

/// What each piece says by itself, o / l.
fn outputs(pieces: &[Piece]) -> Vec<Vec<f64>> {
    pieces.iter().map(|piece| RIGHT.finished(piece)).collect()
}

/// The sum of outputs, each times a number.
fn weighted(input: &Input, outputs: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    let terms = |c: usize| outputs.iter().zip(weights).map(move |(o, w)| w * o[c]);
    (0..input.d_v()).map(|c| terms(c).sum()).collect()
}

/// All with the same share.
fn mean(input: &Input, pieces: &[Piece]) -> Vec<f64> {
    let share = 1.0 / pieces.len().max(1) as f64;
    weighted(input, &outputs(pieces), &vec![share; pieces.len()])
}

/// Half of what there is and half of the next, from the first on.
fn halves(input: &Input, pieces: &[Piece]) -> Vec<f64> {
    let half = |all: Vec<f64>, next: Vec<f64>| weighted(input, &[all, next], &[0.5, 0.5]);
    let halved = outputs(pieces).into_iter().reduce(half);
    halved.unwrap_or_else(|| vec![0.0; input.d_v()])
}
