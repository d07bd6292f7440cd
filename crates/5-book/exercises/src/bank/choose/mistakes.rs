//! What people write instead.

use super::{CHOOSING, Input, crossing, normalised, running, weights};
use crate::{Mistake, Section};

const HUGE: Section = Section::new("bad-numbers", "Huge scores");

/// All of them.
pub(super) const ALL: &[Mistake<Input, Vec<usize>>] = &[
    Mistake {
        name: "multiplies by the temperature",
        does: "It computes softmax(logits · T), so a high temperature makes likely tokens \
            likelier still. Raising probabilities to T does the same",
        looks_right: "At 1 it is right, and the likeliest token stays the likeliest",
        read: CHOOSING,
        answer: |input| input.first_to_pass(&input.shares(input.temperature)),
    },
    Mistake {
        name: "leaves the temperature out",
        does: "It draws with softmax(logits). Dividing probabilities by T and making them \
            sum to 1 again comes to the same: T cancels",
        looks_right: "At 1 it is right",
        read: CHOOSING,
        answer: |input| input.first_to_pass(&input.shares(1.0)),
    },
    Mistake {
        name: "divides the probabilities by the temperature",
        does: "It divides after softmax, and the running sum ends at 1 / T",
        looks_right: "At 1 it is right, and what is divided by T changes with T",
        read: CHOOSING,
        answer: |input| {
            let shares = input.shares(1.0);
            let divided: Vec<f64> =
                shares.iter().map(|share| share / input.temperature).collect();
            input.first_to_pass(&divided)
        },
    },
    Mistake {
        name: "raises the probabilities to the temperature",
        does: "It takes p^T, where p^(1 / T) would be right, and they no longer sum to 1",
        looks_right: "At 1 it is right, and each stays between 0 and 1",
        read: CHOOSING,
        answer: |input| {
            let shares = input.shares(1.0);
            let raised: Vec<f64> =
                shares.iter().map(|share| share.powf(input.temperature)).collect();
            input.first_to_pass(&raised)
        },
    },
    Mistake {
        name: "takes the likeliest token, whatever u is",
        does: "It is greedy: the same logits give the same token each time",
        looks_right: "It is the best single guess, and what a low temperature comes near \
            to",
        read: CHOOSING,
        answer: |input| input.draws(|_| input.by_rank()[0]),
    },
    Mistake {
        name: "draws what has a probability of 0",
        does: "It stops where the running sum is at least u. At u = 0 that is the first \
            token, even one that has been ruled out by a logit of −∞",
        looks_right: "u is hardly ever 0, and elsewhere > and ≥ agree",
        read: CHOOSING,
        answer: |input| {
            let shares = input.right();
            let at_least = |u| running(&shares).position(|sum| sum >= u);
            input.draws(|u| at_least(u).unwrap_or(input.last_likely()))
        },
    },
    NO_MAXIMUM,
    // The same with another way out of the loop.
    Mistake {
        answer: |input| input.first_or(&input.without_maximum(), input.n() - 1),
        ..NO_MAXIMUM
    },
    UNDIVIDED,
    Mistake {
        answer: |input| input.first_or(&input.undivided(), input.n() - 1),
        ..UNDIVIDED
    },
    Mistake {
        name: "starts its maximum at 0",
        does: "A fold from 0.0 never falls below it. Where all logits are negative and the \
            temperature is low, every exponential is 0, and 0 / 0 is NaN",
        looks_right: "A sum starts at 0; but a maximum starts at −∞, f64::NEG_INFINITY, or at \
            the first logit",
        read: HUGE,
        answer: |input| {
            let largest = input.logits.iter().copied().fold(0.0, f64::max);
            input.first_to_pass(&input.less(largest / input.temperature))
        },
    },
    Mistake {
        name: "takes no exponential",
        does: "It divides logits by their sum. They may be negative, and the sum may be 0",
        looks_right: "What comes out sums to 1",
        read: CHOOSING,
        answer: |input| {
            let largest = input.logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let scaled = input.logits.iter().map(|l| (l - largest) / input.temperature);
            input.first_to_pass(&normalised(&scaled.collect::<Vec<_>>()))
        },
    },
    FALLS_THROUGH,
    Mistake { answer: |input| input.first_or_else(&input.right(), 0), ..FALLS_THROUGH },
    Mistake {
        name: "stops where the sum equals u",
        does: "It asks whether the sum is at least u. A token's part of the line from 0 \
            to 1 begins where the one before it ends, and that point belongs to it",
        looks_right: "Tokens without a probability are passed over, and u hardly ever \
            falls on a sum",
        read: CHOOSING,
        answer: |input| {
            let shares = input.right();
            let at_least = |u| {
                let mut sums = running(&shares).zip(&shares);
                sums.position(|(sum, &share)| sum >= u && share > 0.0)
            };
            input.draws(|u| at_least(u).unwrap_or(input.last_likely()))
        },
    },
    Mistake {
        name: "passes over rare tokens",
        does: "It skips what has less than a hundredth or so, so rare tokens are never \
            drawn, and their part goes to nobody",
        looks_right: "Libraries cut the tail off (top-p, min-p), and say so, and make \
            what is left sum to 1 again",
        read: CHOOSING,
        answer: |input| {
            let shares = input.right();
            let kept: Vec<f64> =
                shares.iter().map(|&p| if p < 1e-3 { 0.0 } else { p }).collect();
            input.first_to_pass(&kept)
        },
    },
    NO_SUM,
    // The same without the maximum.
    Mistake {
        answer: |input| {
            let each = input.logits.iter().map(|l| (l / input.temperature).exp());
            input.first_to_pass(&each.collect::<Vec<_>>())
        },
        ..NO_SUM
    },
    Mistake {
        name: "sums from the far end",
        does: "It begins with the last token. Each is drawn as often as it should be, but \
            not by the u that was asked for",
        looks_right: "A count of many draws shows no difference",
        read: CHOOSING,
        answer: |input| {
            let reversed: Vec<f64> = input.right().into_iter().rev().collect();
            let last = input.n() - 1;
            input.draws(|u| last - crossing(&reversed, u).unwrap_or(last))
        },
    },
    Mistake {
        name: "sums in order of probability",
        does: "It sorts the tokens, the likeliest first. Each is drawn as often as it \
            should be, but not by the u that was asked for",
        looks_right: "A count of many draws shows no difference, and libraries that cut \
            the tail off do sort",
        read: CHOOSING,
        answer: |input| {
            let (shares, ranked) = (input.right(), input.by_rank());
            let sorted: Vec<f64> = ranked.iter().map(|&id| shares[id]).collect();
            let last = input.n() - 1;
            input.draws(|u| ranked[crossing(&sorted, u).unwrap_or(last)])
        },
    },
    Mistake {
        name: "returns a rank and not a token",
        does: "It sorts the tokens, the likeliest first, and returns the place in the \
            sorted list",
        looks_right: "The place is a number that the vocabulary has as well",
        read: CHOOSING,
        answer: |input| {
            let shares = input.right();
            let sorted: Vec<f64> = input.by_rank().iter().map(|&id| shares[id]).collect();
            input.first_to_pass(&sorted)
        },
    },
    Mistake {
        name: "is one token late",
        does: "It compares before it adds, so each token answers for the one before it",
        looks_right: "Each probability is used once, and in order",
        read: CHOOSING,
        answer: |input| {
            let shares = input.right();
            let late = |u| crossing(&shares, u).map_or(usize::MAX, |id| id + 1);
            input.draws(|u| late(u).min(input.last_likely()))
        },
    },
    Mistake {
        name: "is one token early",
        does: "It returns the last token whose running sum does not pass u",
        looks_right: "The sums are right, and it stops in the right step",
        read: CHOOSING,
        answer: |input| {
            let shares = input.right();
            let id = |u| crossing(&shares, u).unwrap_or(input.last_likely());
            input.draws(|u| id(u).saturating_sub(1))
        },
    },
    Mistake {
        name: "keeps no running sum",
        does: "It compares u with each probability alone, and returns the first that is \
            larger",
        looks_right: "The first token is drawn as often as it should be",
        read: CHOOSING,
        answer: |input| {
            let shares = input.right();
            let alone = |u| shares.iter().position(|&share| share > u);
            input.draws(|u| alone(u).unwrap_or(input.last_likely()))
        },
    },
];

/// Softmax by the formula.
const NO_MAXIMUM: Mistake<Input, Vec<usize>> = Mistake {
    name: "does not take the largest logit away first",
    does: "At a low temperature logits / T are so large that their exponentials are \
        ∞, and no sum of NaN passes u",
    looks_right: "It is the formula, and right while logits / T stay below 700",
    read: HUGE,
    answer: |input| input.first_to_pass(&input.without_maximum()),
};

/// As if the largest logit were that of the quotients.
const UNDIVIDED: Mistake<Input, Vec<usize>> = Mistake {
    name: "takes the undivided maximum from the divided logits",
    does: "It computes exp(logit / T − m) with m the largest logit, and not m / T. The \
        quotients are the right ones until logit / T − m is above 700, and then ∞",
    looks_right: "At 1 it is right, and a number that is the same for all tokens cancels",
    read: HUGE,
    answer: |input| input.first_to_pass(&input.undivided()),
};

/// To the last token, or to the first.
const FALLS_THROUGH: Mistake<Input, Vec<usize>> = Mistake {
    name: "falls through to a token that may have no probability",
    does: "Rounding can leave the whole sum a little below 1, and u above it. It then \
        returns the first or the last token, even one with a logit of −∞",
    looks_right: "It is one draw in some thousand million million",
    read: CHOOSING,
    answer: |input| input.first_or_else(&input.right(), input.n() - 1),
};

/// Weights in place of probabilities.
const NO_SUM: Mistake<Input, Vec<usize>> = Mistake {
    name: "never divides by the sum of the weights",
    does: "It compares u with a running sum of exponentials, which does not end at 1",
    looks_right: "One token's weight next to another's is right",
    read: CHOOSING,
    answer: |input| {
        let scaled = input.logits.iter().map(|logit| logit / input.temperature);
        input.first_to_pass(&weights(scaled))
    },
};
