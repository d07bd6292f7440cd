//! How much each rank has to compute at each step of a ring, and how long it waits.

use distributed::{Chunks, share};

/// The pairs of query and key that are computed under a causal mask, `[step][rank]`, where
/// each rank has the tokens that `tokens` gives it, in order, and meets those of its
/// [`owner`] at each step.
pub fn pairs(tokens: &[Vec<usize>]) -> Vec<Vec<usize>> {
    by_step(tokens, |queries, keys| {
        let of_query = |i: &usize| keys.partition_point(|j| j <= i);
        queries.iter().map(of_query).sum()
    })
}

/// The same without a mask: every query meets every key.
pub fn all_pairs(tokens: &[Vec<usize>]) -> Vec<Vec<usize>> {
    by_step(tokens, |queries, keys| queries.len() * keys.len())
}

fn by_step(
    tokens: &[Vec<usize>],
    seen: impl Fn(&[usize], &[usize]) -> usize,
) -> Vec<Vec<usize>> {
    let p = tokens.len();
    let of_rank = |step, r: usize| seen(&tokens[r], &tokens[owner(r, step, p)]);
    (0..p).map(|step| (0..p).map(|r| of_rank(step, r)).collect()).collect()
}

/// Whose keys and values rank `r` of `p` has at a step: those of the rank as many before it.
pub fn owner(r: usize, step: usize, p: usize) -> usize {
    (r + p - step) % p
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

/// Every p-th token for each rank, as in striped attention (Brandon et al. 2023).
pub fn in_stripes(n_tokens: usize, p: usize) -> Vec<Vec<usize>> {
    (0..p).map(|r| (r..n_tokens).step_by(p).collect()).collect()
}

/// Which parts of all ranks' time go by in waiting: for a rank that has more to compute in
/// the same step, and for a message that travels longer than the slowest computes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Waiting {
    /// For another rank.
    pub for_ranks: f64,
    /// For a message.
    pub for_messages: f64,
}

impl Waiting {
    /// With these pairs, `[step][rank]`. At every step but the last a message travels, which
    /// takes as long as so many pairs.
    pub fn of(pairs: &[Vec<usize>], message: f64) -> Self {
        let n_ranks = pairs.len() as f64;
        let (mut time, mut computing, mut late) = (0.0, 0.0, 0.0);
        for (step, pairs) in pairs.iter().enumerate() {
            let slowest = pairs.iter().copied().max().unwrap_or(0) as f64;
            let message = if step + 1 < pairs.len() { message } else { 0.0 };
            time += slowest.max(message);
            late += (message - slowest).max(0.0);
            computing += pairs.iter().sum::<usize>() as f64 / n_ranks;
        }
        Self { for_ranks: (time - late - computing) / time, for_messages: late / time }
    }
}

/// The time of a ring that waits at each step for its slowest rank, in pairs; and what it
/// would be if each had as much to do.
pub fn slowest(pairs: &[Vec<usize>]) -> [f64; 2] {
    let slowest: usize = pairs.iter().filter_map(|step| step.iter().max()).sum();
    let all: usize = pairs.iter().flatten().sum();
    [slowest as f64, all as f64 / pairs.len().max(1) as f64]
}
