//! The letters that a model may draw: the likely ones, and not the long tail of the rest.
//!
//! The probabilities are softmax(logits / temperature). Put the letters in order, the
//! likeliest first, and keep as few of them as possible so that their probabilities add up
//! to **at least p**: the nucleus. All others get a probability of 0, and those that are
//! kept are divided by their sum, so that they add up to 1 again.
//!
//! Return the probabilities in the order of the letters, as the logits are.
//!
//! What must be true of the answer:
//! - the letter with which the sum reaches p is kept, and so at least one letter is;
//! - if the sum is exactly p, no more are taken;
//! - of letters that are equally likely, the one with the smaller id comes first;
//! - logits / temperature may be larger than an exponential can take: the temperature is
//!   above 0 and may be 0.001.

use std::process::ExitCode;

use exercises::top_p;

/// The probabilities of the letters, 0 for those that were cut off.
///
/// # Shapes
/// `logits` and what is returned have an entry for each letter; p is above 0 and at most 1.
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
