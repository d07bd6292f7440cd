//! The loss of several names at once, which are not equally long.
//!
//! A name is a row of ids: 0 before its first letter, its letters from 1 on, and 0 after
//! its last: the end. So that all rows of a batch are equally long, more zeros fill up the
//! short ones: they are **padding**, and have the id of the end. `anna` and `bo` are
//!
//! ```text
//! 0  1 14 14  1  0
//! 0  2 15  0  0  0
//! ```
//!
//! Matrix b of `logits` belongs to name b. Its row i is what the model has after it has
//! read ids 0 to i: a logit for each letter and for the end. It is judged by the id that
//! came **next**, with minus the natural logarithm of the probability that softmax gives
//! to it. Return the mean over all rows that count, of all names alike.
//!
//! What must be true of the answer:
//! - each letter of a name and its end are guessed once. Nobody guesses the 0 in front, and
//!   nothing that comes after an end counts;
//! - another name that is longer adds padding to all others, and changes nothing for them;
//! - a model that finds all of v ids equally likely has a loss of ln v.
//!
//! The logits are small numbers here: no exponential is too large.

use std::process::ExitCode;

use exercises::{Matrix, padded_loss};

/// The mean loss, in nats a letter.
///
/// # Shapes
/// `logits` has a matrix `[length, n_letters]` for each name, and `ids` a row of `length`
/// ids, of which at least two are 0.
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
