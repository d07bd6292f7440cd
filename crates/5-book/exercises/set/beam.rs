//! One step of beam search, which looks for the likeliest name instead of drawing one.
//!
//! A **beam** is the beginning of a name: its letters and the sum of their
//! log-probabilities, which is the logarithm of their joint probability. The 0 in front
//! of a name is not one of its letters, but the 0 after it, the end, is: a beam whose
//! last letter is 0 **has ended**.
//!
//! Row i of `log_p` holds the log-probability of each letter after beam i. A beam that
//! has not ended is continued with every letter, including the end, and each continuation
//! is a candidate. A beam that has ended is itself a candidate. Candidates are compared
//! by this score:
//!
//! ```text
//! score = sum / length^alpha
//! ```
//!
//! where the length counts all letters, including the end. Each letter lowers the sum, so
//! without the division, short names would win. Return the k candidates with the largest
//! scores, the best first.
//!
//! What must be true of the answer:
//! - a kept candidate has its plain sum, to which the next step adds; the score serves
//!   only to compare;
//! - of equal scores, that of the earlier beam comes first, and within one beam, that of
//!   the smaller letter;
//! - all k may come from the same beam.

use std::process::ExitCode;

use exercises::{
    Matrix,
    beam::{self, Beam},
};

/// The k best candidates.
///
/// # Shapes
/// `log_p` is `[n_beams, n_letters]`; there are at least k candidates.
// ANCHOR: answer
pub fn beam(beams: &[Beam], log_p: &Matrix, k: usize, alpha: f64) -> Vec<Beam> {
    // YOURS: all candidates of all beams, and the k best of them.
    let mut all = Vec::new();
    for (beam, next) in beams.iter().zip(log_p.row_iter()) {
        if beam.letters.last() == Some(&0) {
            all.push(beam.clone());
            continue;
        }
        for (letter, log_p) in next.iter().enumerate() {
            let letters = [&beam.letters[..], &[letter]].concat();
            all.push(Beam { letters, sum: beam.sum + log_p });
        }
    }
    let length = |beam: &Beam| beam.letters.len() as f64;
    let score = |beam: &Beam| beam.sum / length(beam).powf(alpha);
    all.sort_by(|a, b| score(b).total_cmp(&score(a)));
    all.truncate(k);
    all
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    beam::check(beam)
}
