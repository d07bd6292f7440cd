//! How much of a head's attention goes to what it would copy.
//!
//! `attn` is a causal map: row i holds the attention weights of query i for keys 0 to i.
//! `ids` holds the tokens as numbers.
//!
//! A query **can know** something if its token has appeared earlier in the text. What it
//! would copy is the token that followed: key j + 1 for each earlier position j with
//! ids[j] == ids[i]. The share of a query is the sum of its attention weights for all
//! these keys. Return the mean over the queries that can know.
//!
//! What must be true of the answer:
//! - in `a a`, what came after the first a is the second one itself, and that counts;
//! - a head that attends only to such keys scores 1;
//! - a text without repeated tokens scores 0.

use std::process::ExitCode;

use exercises::{Matrix, copying_share};

/// The mean share.
///
/// # Shapes
/// `attn` is `[n_tokens, n_tokens]`, one row per query, and `ids` has n_tokens entries.
// ANCHOR: answer
pub fn copying_share(attn: &Matrix, ids: &[usize]) -> f64 {
    // YOURS: a sum per query, and the mean over those that can know.
    let (mut total, mut n_knowing) = (0.0, 0);
    for (i, id) in ids.iter().enumerate() {
        let earlier: Vec<usize> = (0..i).filter(|&j| ids[j] == *id).collect();
        if !earlier.is_empty() {
            n_knowing += 1;
            total += earlier.iter().map(|j| attn[(i, j + 1)]).sum::<f64>();
        }
    }
    if n_knowing == 0 { 0.0 } else { total / f64::from(n_knowing) }
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    copying_share::check(copying_share)
}
