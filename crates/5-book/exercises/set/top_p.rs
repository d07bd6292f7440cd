//! The letters that a model may draw: the likely ones, without the long tail.
//!
//! The probabilities are softmax(logits / temperature). Sort the letters, the likeliest
//! first, and keep as few of them as it takes for their probabilities to add up to
//! **at least p**: the nucleus. All other letters get a probability of 0, and the
//! probabilities of those that remain are divided by their sum, so that they add up to 1.
//!
//! Return the probabilities in the order of the logits.
//!
//! What must be true of the answer:
//! - the letter with which the sum reaches p is kept, so at least one letter always is;
//! - if the sum is exactly p, no more letters are kept;
//! - of equally likely letters, the one with the smaller id comes first;
//! - logits / temperature may be so large that its exponential overflows: the temperature
//!   is above 0, but may be 0.001.

use std::process::ExitCode;

use exercises::top_p;

/// The probabilities of the letters, 0 for those that were cut off.
///
/// # Shapes
/// `logits` and the result have an entry for each letter; p is above 0 and at most 1.
// ANCHOR: answer
pub fn top_p(logits: &[f64], temperature: f64, p: f64) -> Vec<f64> {
    // YOURS: softmax, the order, and a running sum.
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weight = |logit: &f64| ((logit - largest) / temperature).exp();
    let all: f64 = logits.iter().map(weight).sum();
    let probabilities: Vec<f64> = logits.iter().map(|it| weight(it) / all).collect();

    let mut order: Vec<usize> = (0..logits.len()).collect();
    order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    let (mut kept, mut sum) = (vec![0.0; logits.len()], 0.0);
    for id in order {
        kept[id] = probabilities[id];
        sum += probabilities[id];
        if sum >= p {
            break;
        }
    }
    kept.iter().map(|probability| probability / sum).collect()
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    top_p::check(top_p)
}
