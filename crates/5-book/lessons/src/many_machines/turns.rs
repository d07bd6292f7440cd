//! How much each rank has to compute at each step of a ring, under a causal mask.

use distributed::{Chunks, share};

/// The pairs of query and key that are computed, `[step][rank]`, where each rank has the
/// tokens that `tokens` gives it, and meets those of rank r − s at step s.
pub fn pairs(tokens: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let p = tokens.len();
    let seen = |queries: &[usize], keys: &[usize]| {
        let of_query = |i: &usize| keys.iter().filter(|&j| j <= i).count();
        queries.iter().map(of_query).sum()
    };
    let of_rank = |step: usize, r: usize| seen(&tokens[r], &tokens[(r + p - step) % p]);
    (0..p).map(|step| (0..p).map(|r| of_rank(step, r)).collect()).collect()
}

/// A p-th of the sequence for each rank, one behind the other.
pub fn in_a_row(n_tokens: usize, p: usize) -> Vec<Vec<usize>> {
    (0..p).map(|r| share(n_tokens, p, r).collect()).collect()
}

/// Two chunks for each rank, one from the beginning and one from the end.
pub fn in_two_chunks(n_tokens: usize, p: usize) -> Vec<Vec<usize>> {
    let chunks = Chunks::new(n_tokens, p);
    (0..p).map(|r| chunks.tokens(r).collect()).collect()
}

/// The time of a ring that waits at each step for its slowest rank, in pairs; and what it
/// would be if each had as much to do.
pub fn slowest(pairs: &[Vec<usize>]) -> [f64; 2] {
    let slowest: usize = pairs.iter().filter_map(|step| step.iter().max()).sum();
    let all: usize = pairs.iter().flatten().sum();
    [slowest as f64, all as f64 / pairs.len().max(1) as f64]
}
