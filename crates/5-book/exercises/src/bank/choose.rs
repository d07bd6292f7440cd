//! A token that is drawn.

use std::process::ExitCode;

use crate::{Case, Exercise, Section};

mod mistakes;

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

    /// One token for each u. Where the running sum never passes u, any token that has a
    /// probability is as good as any other, and the last of them stands for all.
    fn draws(&self, draw: impl Fn(f64) -> usize) -> Vec<usize> {
        let shares = self.right();
        let is_likely = |id: usize| shares.get(id).is_some_and(|&share| share > 0.0);
        let drawn = |&u: &f64| {
            let id = draw(u);
            match crossing(&shares, u) {
                None if is_likely(id) => self.last_likely(),
                _ => id,
            }
        };
        self.us.iter().map(drawn).collect()
    }

    /// The first token at which the running sum passes each u; if none does, the last that
    /// has a share.
    fn first_to_pass(&self, shares: &[f64]) -> Vec<usize> {
        self.first_or(shares, 0)
    }

    /// The same with this token where none has a share, as where all are NaN.
    fn first_or(&self, shares: &[f64], otherwise: usize) -> Vec<usize> {
        let last = shares.iter().rposition(|&share| share > 0.0).unwrap_or(otherwise);
        self.first_or_else(shares, last)
    }

    /// The first token at which the running sum passes each u, or another one.
    fn first_or_else(&self, shares: &[f64], otherwise: usize) -> Vec<usize> {
        self.draws(|u| crossing(shares, u).unwrap_or(otherwise))
    }

    /// The last token that has a probability.
    fn last_likely(&self) -> usize {
        self.right().iter().rposition(|&share| share > 0.0).unwrap_or(0)
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

    /// Softmax by the formula, with this taken from the divided logits.
    fn less(&self, taken: f64) -> Vec<f64> {
        let each =
            self.logits.iter().map(|logit| (logit / self.temperature - taken).exp());
        normalised(&each.collect::<Vec<_>>())
    }

    fn without_maximum(&self) -> Vec<f64> {
        self.less(0.0)
    }

    fn undivided(&self) -> Vec<f64> {
        self.less(self.logits.iter().copied().fold(f64::NEG_INFINITY, f64::max))
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
    mistakes: mistakes::ALL,
    place: |input, place| format!("the token that u = {} draws", input.us[place.column]),
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
        case(&[1000.0, 1001.0, 999.0], 1.0, &[0.1, 0.5, 0.95]),
        case(&[-4.0, -3.0, -2.999, -5.0], 0.001, &[0.1, 0.5, 0.9]),
        case(&[0.0, 0.0], 1.0, &[0.5]),
        case(&[0.0, -8.0, 0.0], 1.0, &[0.5]),
        case(&ten_and_never(10), 1.0, &[0.999_999_999_999_999_9]),
        case(&ten_and_never(0), 1.0, &[0.999_999_999_999_999_9]),
    ]
}

/// Ten equal logits, whose probabilities add up to less than 1 by rounding, and one of −∞ at
/// this place.
fn ten_and_never(place: usize) -> Vec<f64> {
    let mut logits = vec![0.0; 11];
    logits[place] = f64::NEG_INFINITY;
    logits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    /// No right answer is refused for its rounding: every u but 0 keeps its distance from
    /// every running sum, or is one of them exactly, and then the probabilities are 1/2 or
    /// any token will do.
    #[test]
    fn no_draw_is_a_close_call() {
        for Case { input, sizes, .. } in cases() {
            for &u in input.us.iter().filter(|&&u| u > 0.0) {
                let shares = input.right();
                let distances = running(&shares).map(|sum| (sum - u).abs());
                let nearest = distances.fold(1.0, f64::min);
                let is_far = nearest > 5e-5 || nearest == 0.0;
                assert!(is_far, "{sizes}: u = {u} is {nearest} from a sum");
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
                crossed.unwrap_or_else(|| weights.iter().rposition(|&w| w > 0.0).unwrap())
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
