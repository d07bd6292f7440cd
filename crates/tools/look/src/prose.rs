//! Prose that a text has nothing to do with.

use ::texts::{Long, Text};
use anyhow::{Result, ensure};
use attention::{Rng, SeedableRng};
use models::decoders::study::PROSE;
use rand::RngExt;

/// Prose of the book as ids, with what the tokenizer puts around every text.
pub struct Prose {
    first: Vec<usize>,
    ids: Vec<usize>,
    last: Vec<usize>,
}

impl Prose {
    pub fn new(text: &Text) -> Result<Self> {
        let pieces = text.pieces(PROSE, usize::MAX, Long::Refuse)?;
        let (ids, special) = (pieces.sequence.ids, pieces.is_special);
        let n_first = special.iter().take_while(|&&is| is).count();
        let n_last = special.iter().rev().take_while(|&&is| is).count();
        let end = ids.len() - n_last;
        Ok(Self {
            first: ids[..n_first].to_vec(),
            ids: ids[n_first..end].to_vec(),
            last: ids[end..].to_vec(),
        })
    }

    fn n_around(&self) -> usize {
        self.first.len() + self.last.len()
    }

    fn around(&self, ids: &[usize]) -> Vec<usize> {
        [&self.first[..], ids, &self.last].concat()
    }

    /// The texts that means are taken over: four of 200 tokens, or of as many as a model
    /// has positions.
    pub fn for_means(&self, n_positions: usize) -> Vec<Vec<usize>> {
        let n = 200.min(n_positions).saturating_sub(self.n_around()).max(1);
        self.ids.chunks_exact(n).take(4).map(|ids| self.around(ids)).collect()
    }

    /// A text of `n` tokens from a random place, and where it begins.
    pub fn like(&self, n: usize, seed: u64) -> Result<(usize, Vec<usize>)> {
        let n_words = n.saturating_sub(self.n_around());
        ensure!(
            n_words < self.ids.len(),
            "the prose of the book has {} tokens, and yours {n}: there is nothing as long to \
             take outputs from",
            self.ids.len()
        );
        let rng = &mut Rng::seed_from_u64(seed);
        let start = rng.random_range(0..self.ids.len() - n_words);
        Ok((start, self.around(&self.ids[start..start + n_words])))
    }
}
