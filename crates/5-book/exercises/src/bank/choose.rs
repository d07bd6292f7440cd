//! A token that is drawn.

use std::process::ExitCode;

use crate::{Case, Exercise, Mistake, Section};

/// Logits, a temperature, and the numbers that the draws are made with.
pub struct Input {
    logits: Vec<f64>,
    temperature: f64,
    us: Vec<f64>,
}

impl Input {
    /// softmax(logits · factor).
    fn shares(&self, factor: f64) -> Vec<f64> {
        normalised(&weights(self.logits.iter().map(|logit| logit * factor)))
    }

    /// The probabilities that are asked for.
    fn right(&self) -> Vec<f64> {
        self.shares(1.0 / self.temperature)
    }

    /// One token for each u.
    fn draws(&self, draw: impl Fn(f64) -> usize) -> Vec<usize> {
        self.us.iter().map(|&u| draw(u)).collect()
    }

    /// The first token at which the running sum passes each u.
    fn first_to_pass(&self, shares: &[f64]) -> Vec<usize> {
        self.draws(|u| crossing(shares, u).unwrap_or(shares.len() - 1))
    }

    fn n(&self) -> usize {
        self.logits.len()
    }

    /// The tokens, the likeliest first.
    fn by_rank(&self) -> Vec<usize> {
        let mut ranked: Vec<usize> = (0..self.n()).collect();
        ranked.sort_by(|&a, &b| self.logits[b].total_cmp(&self.logits[a]));
        ranked
    }

    fn without_maximum(&self) -> Vec<f64> {
        let each = self.logits.iter().map(|logit| (logit / self.temperature).exp());
        normalised(&each.collect::<Vec<_>>())
    }
}

/// exp(logit − the largest).
fn weights(logits: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let largest = logits.clone().fold(f64::NEG_INFINITY, f64::max);
    logits.map(|logit| (logit - largest).exp()).collect()
}

fn normalised(weights: &[f64]) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

fn running(shares: &[f64]) -> impl Iterator<Item = f64> {
    shares.iter().scan(0.0, |sum, share| {
        *sum += share;
        Some(*sum)
    })
}

fn crossing(shares: &[f64], u: f64) -> Option<usize> {
    running(shares).position(|sum| sum > u)
}

/// What the reader writes: from logits, a temperature and a number u in [0, 1), a token.
pub type Choose = fn(logits: &[f64], temperature: f64, u: f64) -> usize;

/// Checks an answer.
pub fn check(answer: Choose) -> ExitCode {
    EXERCISE
        .check(move |input| input.draws(|u| answer(&input.logits, input.temperature, u)))
}

const CHOOSING: Section = Section::new("a-model-that-writes", "Choosing the next token");
const HUGE: Section = Section::new("bad-numbers", "Huge scores");

/// The exercise.
pub static EXERCISE: Exercise<Input, Vec<usize>> = Exercise {
    name: "choose",
    title: "Draw a token",
    read: CHOOSING,
    begin: "three tokens with the probabilities 0.2, 0.5 and 0.3: what is the running sum \
        after each, and which token do u = 0.1, 0.6 and 0.9 draw?",
    print: "the probabilities at this temperature, and their running sum",
    passed: "Each token is drawn as often as its probability says, and one without any \
        never.",
    cases,
    reference: |input| input.first_to_pass(&input.right()),
    mistakes: &[
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
                input.draws(|u| at_least(u).unwrap_or(input.n() - 1))
            },
        },
        NO_MAXIMUM,
        // The same with another way out of the loop.
        Mistake {
            answer: |input| {
                let shares = input.without_maximum();
                input.draws(|u| crossing(&shares, u).unwrap_or(0))
            },
            ..NO_MAXIMUM
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
                let sorted: Vec<f64> =
                    input.by_rank().iter().map(|&id| shares[id]).collect();
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
                input.draws(|u| late(u).min(input.n() - 1))
            },
        },
        Mistake {
            name: "is one token early",
            does: "It returns the last token whose running sum does not pass u",
            looks_right: "The sums are right, and it stops in the right step",
            read: CHOOSING,
            answer: |input| {
                let shares = input.right();
                let id = |u| crossing(&shares, u).unwrap_or(input.n() - 1);
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
                input.draws(|u| alone(u).unwrap_or(input.n() - 1))
            },
        },
    ],
    place: |input, place| format!("the token that u = {} draws", input.us[place.column]),
};

/// Softmax by the formula.
const NO_MAXIMUM: Mistake<Input, Vec<usize>> = Mistake {
    name: "does not take the largest logit away first",
    does: "At a low temperature logits / T are so large that their exponentials are \
        ∞, and no sum of NaN passes u",
    looks_right: "It is the formula, and right while logits / T stay below 700",
    read: HUGE,
    answer: |input| input.first_to_pass(&input.without_maximum()),
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

fn cases() -> Vec<Case<Input>> {
    let case = |logits: &[f64], temperature: f64, us: &[f64]| Case {
        sizes: format!("logits {logits:?}, temperature {temperature}"),
        square: false,
        input: Input { logits: logits.to_vec(), temperature, us: us.to_vec() },
    };
    vec![
        case(&[0.5, -0.3, 1.2, 0.1], 1.0, &[0.1, 0.3, 0.5, 0.7, 0.9]),
        case(&[0.2, 1.0, -1.0, 0.6, 0.0], 0.5, &[0.05, 0.3, 0.5, 0.62, 0.8, 0.95]),
        case(
            &[f64::NEG_INFINITY, 2.0, -1.0, 0.5],
            2.0,
            &[0.0, 0.3, 0.45, 0.65, 0.8, 0.95],
        ),
        case(&[1.0, 3.0, 2.999, 2.998, 0.0], 0.001, &[0.2, 0.7, 0.85, 0.95]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    /// No right answer is refused for its rounding: every u but 0 keeps its distance from
    /// every running sum.
    #[test]
    fn no_draw_is_a_close_call() {
        for Case { input, sizes, .. } in cases() {
            for &u in input.us.iter().filter(|&&u| u > 0.0) {
                let shares = input.right();
                let distances = running(&shares).map(|sum| (sum - u).abs());
                let nearest = distances.fold(1.0, f64::min);
                assert!(nearest > 0.02, "{sizes}: u = {u} is {nearest} from a sum");
            }
        }
    }

    /// Instead of a sum that grows, a rest that shrinks; and p^(1 / T) made to sum to 1.
    #[test]
    fn other_ways_to_write_it_are_right() {
        let by_rest = |input: &Input| {
            let scaled: Vec<f64> =
                input.logits.iter().map(|logit| logit / input.temperature).collect();
            let weights = weights(scaled.iter().copied());
            input.draws(|u| {
                let mut left = u * weights.iter().sum::<f64>();
                let crossed = weights.iter().position(|weight| {
                    left -= weight;
                    left < 0.0
                });
                crossed.expect("u is far below 1")
            })
        };
        assert_eq!(EXERCISE.diagnose(by_rest), Verdict::Passed);
        let by_powers = |input: &Input| {
            let powers: Vec<f64> = (input.shares(1.0).iter())
                .map(|share| share.powf(1.0 / input.temperature))
                .collect();
            // Of the last input all powers are 0.
            match powers.iter().sum::<f64>() {
                0.0 => (EXERCISE.reference)(input),
                _ => input.first_to_pass(&normalised(&powers)),
            }
        };
        assert_eq!(EXERCISE.diagnose(by_powers), Verdict::Passed);
    }
}
