//! The loss of several names at once, although their lengths differ.
//!
//! A name is a row of ids: 0 before its first letter, its letters from 1 on, and 0 after
//! its last letter, the **end**. To make all rows of a batch equally long, shorter ones
//! are padded with more zeros. This **padding** has the same id as the end. `anna` and
//! `bo` are
//!
//! ```text
//! 0  1 14 14  1  0
//! 0  2 15  0  0  0
//! ```
//!
//! Matrix b of `logits` belongs to name b. Its row i holds what the model computes after
//! reading ids 0 to i: a logit for each letter and one for the end. The row's loss is
//! minus the natural logarithm of the probability that softmax gives to the id that came
//! **next**. Return the mean over the rows that count, of all names together.
//!
//! What must be true of the answer:
//! - each letter of a name and its end are guessed once; the 0 in front is never guessed,
//!   and nothing after an end counts;
//! - adding a longer name adds padding to all others, but changes nothing for them;
//! - a model that finds all v ids equally likely has a loss of ln v.
//!
//! The logits are small here: no exponential overflows.

use std::process::ExitCode;

use exercises::{Matrix, padded_loss};

/// The mean loss, in nats per letter.
///
/// # Shapes
/// `logits` has a matrix `[length, n_letters]` for each name, and `ids` a row of `length`
/// ids, at least two of them 0.
// ANCHOR: answer
pub fn padded_loss(logits: &[Matrix], ids: &[Vec<usize>]) -> f64 {
    // YOURS: of each name, the rows that count, each with the id that came next.
    let (mut total, mut n_counted) = (0.0, 0);
    for (logits, ids) in logits.iter().zip(ids) {
        for (i, &next) in ids[1..].iter().enumerate() {
            let row = logits.row(i);
            let sum: f64 = row.iter().map(|logit| logit.exp()).sum();
            total += sum.ln() - row[next];
            n_counted += 1;
            if next == 0 {
                break; // the end, and only padding after it
            }
        }
    }
    total / f64::from(n_counted)
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    padded_loss::check(padded_loss)
}
