//! Which queries of one rank may attend to which keys of another, under a causal mask.
//!
//! The tokens of one sequence are spread over several ranks, in two chunks per rank. A
//! chunk is a range of positions in the whole sequence: with 16 tokens on two ranks,
//! rank 0 has 0..4 and 12..16, and rank 1 has 4..8 and 8..12. A rank's queries stay
//! where they are, and blocks of keys come to them from all ranks, including their own.
//! A block holds all of a rank's keys, or part of each of its chunks.
//!
//! Return one row per query, with one entry per key: `true` where the query may attend
//! to the key. A token sees itself and the tokens before it in the sequence, on
//! whichever rank they are. Rows and columns follow the order of the ranges: first all
//! tokens of the first range, then all of the second.
//!
//! What must be true of the answer:
//! - over the queries and the blocks of all ranks, every pair of tokens is judged once,
//!   and as a single rank would judge it;
//! - ranges may differ in length, some may be empty, and a later one may hold earlier
//!   tokens.
//!
//! To loop over a `&Range`, write `for i in range.clone()`, because a loop uses a range
//! up.

use std::ops::Range;
use std::process::ExitCode;

use exercises::ring_mask;

/// Whether each query may attend to each key.
///
/// # Shapes
/// The ranges of `queries` have n_q positions in all, those of `keys` n_kv; the result
/// has n_q rows of n_kv entries.
// ANCHOR: answer
pub fn may_attend(queries: &[Range<usize>], keys: &[Range<usize>]) -> Vec<Vec<bool>> {
    // YOURS: the position of each query and of each key, compared.
    let positions = |ranges: &[Range<usize>]| ranges.iter().cloned().flatten().collect();
    let (queries, keys): (Vec<usize>, Vec<usize>) = (positions(queries), positions(keys));
    queries.iter().map(|i| keys.iter().map(|j| j <= i).collect()).collect()
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    ring_mask::check(may_attend)
}
