//! The loss of a layer whose answer is a class, and its gradient.
//!
//! A row of `logits` is one token, a column is one class, and `classes[t]` is the right
//! class of token t. Softmax would make probabilities of each row. The loss of a token is
//! minus the natural logarithm of the probability of its right class, and the loss of the
//! batch is the mean over the tokens, of which there is at least one. Return it, and its
//! gradient for each logit.
//!
//! What must be true of the answer:
//! - each row of the gradient sums to 0, and only its right class has an entry below 0;
//! - adding a number to a whole row of logits changes nothing;
//! - logits may be 1000 or −1000. If the right logit is 2000 below the largest of its row,
//!   the loss of that token is 2000: neither ∞ nor NaN, although the probability is
//!   too small for an f64.
//!
//! `softmax_rows` is there to use for the gradient; it takes the matrix itself, not a
//! reference. Is it any use for the loss?

use std::process::ExitCode;

use exercises::{Matrix, cross_entropy, softmax_rows};

/// The mean loss of the tokens, and the gradient of their logits.
///
/// # Shapes
/// `logits` is `[n_tokens, n_classes]`, `classes` has n_tokens entries, the gradient is
/// `[n_tokens, n_classes]`.
// ANCHOR: answer
pub fn cross_entropy(logits: &Matrix, classes: &[usize]) -> (f64, Matrix) {
    // YOURS: (loss, d_logits).
    let n_tokens = classes.len() as f64;
    let mut loss = 0.0;
    let mut d_logits = softmax_rows(logits.clone());
    for (t, &right) in classes.iter().enumerate() {
        let row = logits.row(t);
        let largest = row.max();
        let sum: f64 = row.iter().map(|logit| (logit - largest).exp()).sum();
        loss += largest - row[right] + sum.ln(); // −ln of the right p
        d_logits[(t, right)] -= 1.0;
    }
    (loss / n_tokens, d_logits / n_tokens)
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    cross_entropy::check(cross_entropy)
}
