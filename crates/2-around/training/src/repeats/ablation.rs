//! What goes wrong without each head of a stack.

use ablation::{Directions, Replacement, Site};
use attention::{Error, Matrix, Result, Rng};

use super::predictor::largest;
use super::{Predictor, Sequences};

/// The score of a predictor, whole, without each head, and without random directions.
#[derive(Debug, Clone, PartialEq)]
pub struct StackAblation {
    /// The score with all heads.
    pub whole: f64,
    /// The score without head i of block l, `[n_layers, n_heads]`.
    pub ablated: Matrix,
    /// The scores without as many random directions of block l's concatenation as a head
    /// has, scaled so that the block's output misses as much as without a head:
    /// `[n_layers, N_DRAWS]`.
    pub controls: Matrix,
}

impl StackAblation {
    /// How many times random directions are drawn for each block.
    pub const N_DRAWS: usize = 10;

    /// Ablates each head in turn, and random directions.
    ///
    /// What replaces a part is what stands **at the same position** of other sequences:
    /// their mean there, or one of them.
    ///
    /// # Errors
    /// As [`Predictor::pass`].
    pub fn of(
        model: &Predictor,
        read: &Sequences,
        replacement: Replacement,
        rng: &mut Rng,
    ) -> Result<Self> {
        let concats = model.concats(read)?;
        let mut ablated = Matrix::zeros(concats.len(), model.layer(0).dims().n_heads());
        let mut controls = Matrix::zeros(concats.len(), Self::N_DRAWS);
        for (l, concat) in concats.iter().enumerate() {
            let site = model.site(l, concat, read, replacement);
            let score_less = |taken| model.score_with(l, concat - taken, read);
            let (heads, moved) = site.heads(rng);
            for (i, taken) in heads.into_iter().enumerate() {
                ablated[(l, i)] = score_less(taken)?;
            }
            for draw in 0..Self::N_DRAWS {
                controls[(l, draw)] = score_less(site.control(moved, rng).0)?;
            }
        }
        Ok(Self { whole: model.score(read)?, ablated, controls })
    }
}

impl Predictor {
    /// The score with the output of one head replaced, as [`StackAblation`] does it.
    ///
    /// # Errors
    /// [`Error::NoSuchIndex`]; as [`pass`](Self::pass).
    pub fn score_ablated(
        &self,
        [block, head]: [usize; 2],
        read: &Sequences,
        replacement: Replacement,
        rng: &mut Rng,
    ) -> Result<f64> {
        Error::expect_index("layer", block, self.stack.blocks.len())?;
        let directions = Directions::of_head(self.layer(block).dims(), head)?;
        let concat = &self.concats(read)?[block];
        let taken = self.site(block, concat, read, replacement).taken(&directions, rng);
        self.score_with(block, concat - taken, read)
    }

    /// The concatenation of each block, `[n_sequences · n_tokens, h · d_v]`.
    pub(super) fn concats(&self, read: &Sequences) -> Result<Vec<Matrix<f32>>> {
        let mut concats = Vec::new();
        self.logits_with(read, |_, concat| {
            concats.push(concat.clone());
            concat
        })?;
        Ok(concats)
    }

    /// Where the heads of a block are ablated: position by position.
    pub(super) fn site<'a>(
        &'a self,
        block: usize,
        concat: &'a Matrix<f32>,
        read: &Sequences,
        replacement: Replacement,
    ) -> Site<'a> {
        let (dims, w_o) = (self.layer(block).dims(), self.layer(block).w_o());
        Site { dims, concat, w_o, replacement, n_positions: read.n_tokens }
    }

    /// The score with another concatenation in a block.
    fn score_with(
        &self,
        block: usize,
        other: Matrix<f32>,
        read: &Sequences,
    ) -> Result<f64> {
        let mut other = Some(other);
        let logits = self.logits_with(read, |l, concat| match l == block {
            true => other.take().unwrap_or(concat),
            false => concat,
        })?;
        Ok(read.score(&largest(&logits)))
    }
}
