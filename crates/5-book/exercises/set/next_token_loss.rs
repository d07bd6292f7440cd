//! How well a model's logits predict a text, in nats per token.
//!
//! Row i of `logits` is the model's output after it has read tokens 0 to i: one logit for
//! each token of the vocabulary. `ids` are the tokens of the text. So row i is judged by
//! the **next** token, ids[i + 1], and the last row is not judged at all.
//!
//! The loss of a row is the negative natural logarithm of the probability that softmax
//! gives to the next token. Return the mean over the rows that are judged.
//!
//! What must be true of the answer:
//! - with n tokens there are n − 1 guesses, and n is at least 2;
//! - a model that finds all of v tokens equally likely has a loss of ln v;
//! - logits may be 1000 or −1000. If the next token's logit is 2000 below the largest in
//!   its row, that row has a loss of 2000, neither ∞ nor NaN. Exercise `cross_entropy`
//!   explains how the logarithm of a softmax stays finite.

use std::process::ExitCode;

use exercises::{Matrix, next_token_loss};

/// The mean loss in nats.
///
/// # Shapes
/// `logits` is `[n_tokens, n_vocabulary]`, `ids` has n_tokens entries.
// ANCHOR: answer
pub fn next_token_loss(logits: &Matrix, ids: &[usize]) -> f64 {
    // YOURS: each row with the token after it.
    let guessed = &ids[1..];
    let mut total = 0.0;
    for (i, &next) in guessed.iter().enumerate() {
        let row = logits.row(i);
        let largest = row.max();
        let sum: f64 = row.iter().map(|logit| (logit - largest).exp()).sum();
        total += largest + sum.ln() - row[next];
    }
    total / guessed.len() as f64
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    next_token_loss::check(next_token_loss)
}
