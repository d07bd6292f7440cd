//! One token, drawn with the probabilities that a model gives.
//!
//! The probabilities are softmax(logits / temperature). Go through the tokens in order,
//! from token 0, with a running sum of their probabilities. What is drawn is the **first
//! token at which the sum is larger than u**. The caller chooses u by chance, at least 0
//! and below 1; the same u draws the same token.
//!
//! What must be true of the answer:
//! - a token with a logit of −∞ has no probability, and no u draws it;
//! - a temperature near 0 draws the likeliest token, nearly always. It is above 0, and
//!   may be 0.001: logits / temperature may be larger than an exponential can take.
//!
//! Rounding may leave the whole sum a little below 1. If it never passes u, return any
//! token that has a probability.

use std::process::ExitCode;

use exercises::choose;

/// The token that u draws.
///
/// # Shapes
/// `logits` has an entry for each token of the vocabulary, at least one of them above −∞.
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
