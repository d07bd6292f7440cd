//! Who has what: heads and sequences in shares, tokens in chunks.

use std::ops::Range;

use attention::{Matrix, Real};

use crate::{Error, Result};

/// Below so many keys, a block is not worth a message of its own.
const FEWEST: usize = 256;

/// Into how many blocks each chunk is cut, where there are keys enough. A rank holds its
/// share of all keys and values, and one block more, which is arriving.
const BLOCKS: usize = 4;

/// Part `i` when `n` things are shared out among `n_parts`: the first `n mod n_parts` parts
/// have one more. Where there are fewer things than parts, the last parts are empty.
///
/// ```
/// use distributed::share;
///
/// let of_three = |n| [0, 1, 2].map(|i| share(n, 3, i));
/// assert_eq!(of_three(8), [0..3, 3..6, 6..8]);
/// assert_eq!(of_three(2), [0..1, 1..2, 2..2]);
/// ```
///
/// # Panics
/// Without parts.
pub fn share(n: usize, n_parts: usize, i: usize) -> Range<usize> {
    let start = |i: usize| i * (n / n_parts) + i.min(n % n_parts);
    start(i)..start(i + 1)
}

/// The tokens of each rank: two chunks, one from the beginning and one from the end.
///
/// Under a causal mask the last token sees everything and the first sees itself alone. If
/// rank r had the r-th part of the tokens, all would wait for the last. So `2p` chunks are
/// cut, and rank r has chunks r and 2p − 1 − r: at every step of the ring each rank then
/// has the same number of pairs to compute.
///
/// ```
/// use distributed::Chunks;
///
/// let chunks = Chunks::new(16, 2);
/// assert_eq!(chunks.of(0), [0..4, 12..16]);
/// assert_eq!(chunks.of(1), [4..8, 8..12]);
/// ```
///
/// # Source
/// The order of chunks that ring-flash-attention and Llama 3's context parallelism (Dubey
/// et al. 2024, section 3.3.2) have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunks {
    n_tokens: usize,
    n_ranks: usize,
}

impl Chunks {
    /// So many tokens for so many ranks, at least one.
    pub fn new(n_tokens: usize, n_ranks: usize) -> Self {
        Self { n_tokens, n_ranks: n_ranks.max(1) }
    }

    /// The two chunks of a rank, as ranges of all tokens; some are empty where there are
    /// few tokens.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn of(&self, rank: usize) -> [Range<usize>; 2] {
        assert!(rank < self.n_ranks, "rank {rank} of {}", self.n_ranks);
        let n_chunks = 2 * self.n_ranks;
        [rank, n_chunks - 1 - rank].map(|chunk| share(self.n_tokens, n_chunks, chunk))
    }

    /// How many tokens there are.
    pub fn n_tokens(&self) -> usize {
        self.n_tokens
    }

    /// How many tokens a rank has.
    pub fn len(&self, rank: usize) -> usize {
        self.of(rank).iter().map(Range::len).sum()
    }

    /// Whether there are no tokens at all.
    pub fn is_empty(&self) -> bool {
        self.n_tokens == 0
    }

    /// The numbers of a rank's tokens, in the order in which it has them.
    pub fn tokens(&self, rank: usize) -> impl Iterator<Item = usize> + use<> {
        self.of(rank).into_iter().flatten()
    }

    /// The rows of `x` that a rank has: the first chunk of each sequence, then the second of
    /// each.
    ///
    /// # Shapes
    /// `x` is `[n_sequences · n_tokens, width]`.
    ///
    /// # Errors
    /// Another number of rows, or no such rank.
    pub fn rows<T: Real>(
        &self,
        x: &Matrix<T>,
        n_sequences: usize,
        rank: usize,
    ) -> Result<Matrix<T>> {
        let expected = (n_sequences * self.n_tokens, x.ncols());
        attention::Error::expect_shape("the tokens of all ranks", expected, x.shape())?;
        Error::expect_rank(rank, self.n_ranks)?;
        let places: Vec<usize> = self.places(n_sequences, rank).collect();
        Ok(x.select_rows(&places))
    }

    /// Writes the rows that a rank has to their places among all.
    ///
    /// # Shapes
    /// `all` is `[n_sequences · n_tokens, width]`, `rows` as [`rows`](Self::rows) gives them.
    ///
    /// # Errors
    /// Other shapes, or no such rank.
    pub fn put<T: Real>(
        &self,
        rows: &Matrix<T>,
        n_sequences: usize,
        rank: usize,
        all: &mut Matrix<T>,
    ) -> Result<()> {
        let expected = (n_sequences * self.n_tokens, rows.ncols());
        attention::Error::expect_shape("the tokens of all ranks", expected, all.shape())?;
        Error::expect_rank(rank, self.n_ranks)?;
        let expected = (n_sequences * self.len(rank), all.ncols());
        attention::Error::expect_shape("the tokens of a rank", expected, rows.shape())?;
        for (from, to) in self.places(n_sequences, rank).enumerate() {
            all.set_row(to, &rows.row(from));
        }
        Ok(())
    }

    fn places(&self, n_sequences: usize, rank: usize) -> impl Iterator<Item = usize> {
        let n_tokens = self.n_tokens;
        let of_all = move |chunk: Range<usize>| {
            (0..n_sequences)
                .flat_map(move |s| chunk.clone().map(move |i| s * n_tokens + i))
        };
        self.of(rank).into_iter().flat_map(of_all)
    }

    /// Into how many blocks each chunk is cut, the same for all ranks.
    pub(crate) fn n_blocks(&self) -> usize {
        (self.of(0)[0].len() / FEWEST).clamp(1, BLOCKS)
    }

    /// What goes round the ring: each chunk of a rank cut into `n_blocks`, the two chunks
    /// in turn, so that a causal mask leaves two neighbours in a ring no more than a block
    /// apart.
    pub fn blocks(&self, rank: usize, n_blocks: usize) -> Vec<Range<usize>> {
        let chunks = self.of(rank);
        let of_both = |b| {
            chunks.clone().map(|chunk| {
                let part = share(chunk.len(), n_blocks, b);
                chunk.start + part.start..chunk.start + part.end
            })
        };
        (0..n_blocks).flat_map(of_both).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_is_in_one_chunk_and_in_one_block() {
        for n in [0, 1, 2, 5, 16, 37] {
            for p in [1, 2, 3, 4, 8] {
                let chunks = Chunks::new(n, p);
                let mut all: Vec<_> = (0..p).flat_map(|r| chunks.tokens(r)).collect();
                all.sort_unstable();
                assert!(all.into_iter().eq(0..n), "{n} tokens, {p} ranks");
                let blocks = (0..p).flat_map(|r| chunks.blocks(r, 3)).flatten();
                let mut all: Vec<_> = blocks.collect();
                all.sort_unstable();
                assert!(all.into_iter().eq(0..n), "{n} tokens, {p} ranks");
            }
        }
    }

    /// At each step of the ring, each rank has the same pairs of query and key to compute.
    #[test]
    fn causal_work_is_balanced_at_every_step() {
        let (n, p) = (64, 4);
        let chunks = Chunks::new(n, p);
        let pairs = |queries: usize, keys: usize| {
            let seen = |i| chunks.tokens(keys).filter(|&j| j <= i).count();
            chunks.tokens(queries).map(seen).sum::<usize>()
        };
        for step in 0..p {
            let of_all: Vec<_> = (0..p).map(|r| pairs(r, (r + p - step) % p)).collect();
            let (least, most) = (of_all.iter().min(), of_all.iter().max());
            assert_eq!(least, most, "step {step}: {of_all:?}");
        }
    }
}
