//! One token, drawn from a model's probabilities.
//!
//! The probabilities are softmax(logits / temperature). Go through the tokens in order,
//! starting with token 0, and keep a running sum of their probabilities. Draw the **first
//! token at which the sum is larger than u**. The caller chooses u at random, at least 0
//! and below 1; the same u always draws the same token.
//!
//! What must be true of the answer:
//! - a token with a logit of −∞ has a probability of 0, and no u draws it;
//! - a temperature near 0 nearly always draws the most likely token. It is above 0, but
//!   may be 0.001, so exponentials of logits / temperature may overflow.
//!
//! Rounding may leave the whole sum slightly below 1. If it never exceeds u, return the last
//! token whose probability is above 0.

use std::process::ExitCode;

use exercises::choose;

/// The token that u draws.
///
/// # Shapes
/// `logits` has one entry per token of the vocabulary, at least one of them above −∞.
// ANCHOR: answer
pub fn choose(logits: &[f64], temperature: f64, u: f64) -> usize {
    // YOURS: softmax, and then a running sum.
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weight = |logit: &f64| ((logit - largest) / temperature).exp();
    let all: f64 = logits.iter().map(weight).sum();
    let (mut sum, mut drawn) = (0.0, 0);
    for (id, logit) in logits.iter().enumerate() {
        let probability = weight(logit) / all;
        if probability > 0.0 {
            drawn = id;
        }
        sum += probability;
        if sum > u {
            break;
        }
    }
    drawn
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    choose::check(choose)
}
