//! The same task with one text in place of two: self-attention over both joined.
//!
//! ```text
//!   1 2   m a r c h   2 0 3 1 · ·   start 2 0 3 1 - 0       · fills up, and nobody sees it
//!   └── see one another ──┘         └ see what is read, and what stands before ┘
//! ```
//!
//! Two blocks, as many as an encoder and a decoder of one each, but without a
//! cross-attention. What that would have held, the feed-forward layers get: see
//! [`JoinedConverter::as_large_as`].

use attention::{Batch, Dims, Linear, Mask, Matrix, Result, Rng, random_matrix};
use block::{Block, Embedding, LayerNorm, Positions, Stack, StackPass};
use fused_heads::FusedAttention;
use gradients::{Adam, Optimiser, cross_entropy, linear_backward};

use super::converter::{letter_by_letter, random_attention, random_feed_forward};
use super::{
    Costs, DateArchitecture, DateConverter, DateLook, DateText, DateTexts, Dates,
    N_SOURCE, N_TARGET, PartShares,
};
use crate::Learner;

/// The number of blocks.
const N_BLOCKS: usize = 2;

/// From a date in any form to "2031-03-12" with self-attention alone.
#[derive(Debug, Clone, PartialEq)]
pub struct JoinedConverter {
    /// Of the letters that are read, then of those that are written and the start.
    pub embedding: Embedding<f32>,
    /// Two blocks, with norms before.
    pub stack: Stack<FusedAttention<f32>, f32>,
    /// From what comes out to a logit for each letter, `[d_model, Dates::N_WRITTEN]`.
    pub unembedding: Linear<f32>,
}

gradients::entries!([] f32, JoinedConverter: embedding, stack, unembedding);

impl JoinedConverter {
    /// Random parameters, with learned positions.
    ///
    /// # Errors
    /// [`attention::Error`] for sizes that do not fit.
    pub fn random(built: DateArchitecture, rng: &mut Rng) -> Result<Self> {
        let DateArchitecture { d_model, n_heads, .. } = built;
        let dims = Dims::new(d_model, n_heads)?;
        let table = random_matrix(N_SOURCE + N_TARGET, d_model, 1.0, rng);
        let n_letters = Dates::N_READ + Dates::N_WRITTEN + 1; // and the start
        let embedding = Embedding {
            positions: Positions::Learned(table),
            ..Embedding::random(n_letters, d_model, rng)
        };
        let block =
            |_| Block::new(random_attention(dims, rng), random_feed_forward(built, rng));
        let blocks = (0..N_BLOCKS).map(block).collect();
        let last_norm = Some(LayerNorm::identity(d_model).into());
        let stack = Stack { blocks, last_norm };
        let unembedding = Linear::random(d_model, Dates::N_WRITTEN, true, rng);
        Ok(Self { embedding, stack, unembedding })
    }

    /// The sizes whose number of parameters is nearest to that of a [`DateConverter`]: the
    /// same but for the width of the feed-forward layers, in whole units.
    ///
    /// # Errors
    /// As [`random`](Self::random).
    pub fn as_large_as(
        built: DateArchitecture,
        rng: &mut Rng,
    ) -> Result<DateArchitecture> {
        let expected = DateConverter::random(built, rng)?.costs()?.parameters;
        let of = |d_ff| Self::random(DateArchitecture { d_ff, ..built }, rng)?.costs();
        let [one, two] = [1, 2].map(of);
        let (one, two) = (one?.parameters, two?.parameters);
        let n_units = (expected as f64 - one as f64) / (two - one) as f64;
        Ok(DateArchitecture { d_ff: 1 + n_units.round().max(0.0) as usize, ..built })
    }

    /// What it holds, and what a pass takes.
    ///
    /// # Errors
    /// [`attention::Error`] if a `u64` cannot hold a count.
    pub fn costs(&self) -> Result<Costs> {
        let mut of_blocks = 0;
        for block in &self.stack.blocks {
            of_blocks += block::Ledger::of(block, N_SOURCE + N_TARGET)?.multiply_adds();
        }
        Ok(Costs::of(self, &self.unembedding, of_blocks))
    }

    /// What is read and the letters so far, `[n_dates · n_letters]`, through the blocks.
    ///
    /// # Errors
    /// [`attention::Error`] for letters that there are not, or too many.
    pub fn pass(
        &self,
        letters: &[usize],
        texts: &DateTexts,
    ) -> Result<StackPass<'_, f32>> {
        let n_dates = texts.n_dates();
        let n_tokens = N_SOURCE + letters.len() / n_dates.max(1);
        let x = self.embedding.forward(&ids(letters, texts), n_tokens)?;
        let mask = |read: &DateText| {
            // What is read, and of what is written nothing that comes after it.
            let is_seen = |i, j| j < read.text.len() || (j >= N_SOURCE && j <= i);
            Mask::Allowed(Matrix::from_fn(n_tokens, n_tokens, is_seen))
        };
        let masks: Vec<Mask> = texts.written.iter().map(mask).collect();
        StackPass::forward(&self.stack, &Batch::new(n_dates, x)?, &masks)
    }

    /// What it writes, each letter the likeliest after those that it wrote before,
    /// `[n_dates · N_TARGET]`.
    pub(crate) fn write(&self, texts: &DateTexts) -> Result<Vec<usize>> {
        letter_by_letter(texts.n_dates(), &self.unembedding, |so_far| {
            Ok(self.pass(so_far, texts)?.out().clone())
        })
    }

    /// Where the heads of each block look from the letters that are written, while the right
    /// ones are given. Even is what a letter gives if it attends evenly to all that it sees.
    pub(crate) fn shares(&self, texts: &DateTexts) -> Result<Vec<PartShares>> {
        let own: Vec<usize> = (0..texts.n_dates()).collect();
        let pass = self.pass(&texts.given(), texts)?;
        let of_written = |map: &Matrix<f32>| map.rows(N_SOURCE, N_TARGET).into_owned();
        let of_date = |maps: &Vec<Matrix<f32>>| maps.iter().map(of_written).collect();
        let of_block = |block: &block::BlockPass<'_, f32>| {
            let maps: Vec<Vec<Matrix<f32>>> = block.attn().iter().map(of_date).collect();
            // The start, and the letters written before.
            PartShares::beside(&maps, texts, &own, |letter| letter + 1)
        };
        pass.blocks().iter().map(of_block).collect()
    }
}

/// Where the letters that are written stand, in the order of all rows.
fn rows_of_written(n_dates: usize) -> Vec<usize> {
    let n_tokens = N_SOURCE + N_TARGET;
    (0..n_dates * n_tokens).filter(|row| row % n_tokens >= N_SOURCE).collect()
}

/// The numbers of all letters, what is read before what is written; those of the written ones
/// come after those of the read ones.
fn ids(letters: &[usize], texts: &DateTexts) -> Vec<usize> {
    let n_letters = (letters.len() / texts.n_dates().max(1)).max(1);
    let both = texts.source.chunks(N_SOURCE).zip(letters.chunks(n_letters));
    let of_date = |(read, written): (&[usize], &[usize])| {
        let written = written.iter().map(|id| Dates::N_READ + id);
        read.iter().copied().chain(written).collect::<Vec<_>>()
    };
    both.flat_map(of_date).collect()
}

impl Learner for JoinedConverter {
    type Examples = DateTexts;
    type Look = DateLook<Vec<PartShares>>;

    // The letters that are read predict nothing, so no loss comes from them.
    fn descend(&mut self, read: &DateTexts, adam: &mut Adam<f32>) -> Result<f32> {
        let n_tokens = N_SOURCE + N_TARGET;
        let given = read.given();
        let pass = self.pass(&given, read)?;
        let rows = rows_of_written(read.n_dates());
        let written = pass.out().select_rows(&rows);
        let loss = cross_entropy(&self.unembedding.forward(&written)?, &read.target)?;

        let d_out = linear_backward(&self.unembedding, &written, &loss.gradient)?;
        let mut d_stack = Matrix::zeros(pass.out().nrows(), pass.out().ncols());
        for (&row, d) in rows.iter().zip(d_out.d_x.row_iter()) {
            d_stack.row_mut(row).copy_from(&d);
        }
        let d = pass.backward(&d_stack)?;
        let d_embedding =
            self.embedding.backward(&ids(&given, read), n_tokens, d.d_x())?;

        adam.step_entries(self, &(d_embedding, d, d_out.d_linear))?;
        Ok(loss.value)
    }

    fn look(&self, test: &DateTexts, losses: &[f64], _: usize) -> Result<Self::Look> {
        Ok(DateLook {
            step: losses.len(),
            loss: losses.last().copied(),
            whole: test.whole(&self.write(test)?),
            shares: self.shares(test)?,
        })
    }

    fn score(look: &Self::Look) -> f64 {
        look.whole
    }
}
