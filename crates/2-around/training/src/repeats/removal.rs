//! What goes wrong without each head of a stack.

use attention::{Matrix, Rng};

use super::predictor::largest;
use super::{Predictor, Sequences};
use crate::directions::{axes, orthonormal};
use crate::{Error, Removal, Result, taken};

/// The score of a predictor, whole, without each head, and without random directions.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadRemoval {
    /// The score with all heads.
    pub whole: f64,
    /// The score without head i of block l, `[n_layers, n_heads]`.
    pub without: Matrix,
    /// The scores without as many random directions of block l's concatenation as a head
    /// has, scaled so that the block's output misses as much as without a head:
    /// `[n_layers, N_DRAWS]`.
    pub controls: Matrix,
}

impl HeadRemoval {
    /// How many times random directions are drawn for each block.
    pub const N_DRAWS: usize = 10;

    /// Removes each head in turn, and random directions.
    ///
    /// What replaces a part is what stands **at the same position** of other sequences:
    /// their mean there, or one of them.
    ///
    /// # Errors
    /// As [`Predictor::pass`].
    pub fn of(
        model: &Predictor,
        read: &Sequences,
        how: Removal,
        rng: &mut Rng,
    ) -> Result<Self> {
        let dims = model.stack.blocks[0].attention.function.parameters().dims();
        let (width, d_v, n_heads) = (dims.concat_width(), dims.d_v(), dims.n_heads());
        let n_layers = model.stack.blocks.len();
        let mut without = Matrix::zeros(n_layers, n_heads);
        let mut controls = Matrix::zeros(n_layers, Self::N_DRAWS);
        for l in 0..n_layers {
            let removed = Removed { model, read, block: l, how };
            let mut length = 0.0;
            for i in 0..n_heads {
                let (score, misses) =
                    removed.score(&axes(width, i * d_v, d_v), None, rng)?;
                without[(l, i)] = score;
                length += misses / n_heads as f64;
            }
            for draw in 0..Self::N_DRAWS {
                let directions = orthonormal(width, d_v, rng);
                controls[(l, draw)] = removed.score(&directions, Some(length), rng)?.0;
            }
        }
        Ok(Self { whole: model.score(read)?, without, controls })
    }
}

impl Predictor {
    /// The score with the output of one head replaced, as [`HeadRemoval`] does it.
    ///
    /// # Errors
    /// [`Error::NoSuchLayer`]; [`Error::NoSuchHead`]; as [`pass`](Self::pass).
    pub fn score_without(
        &self,
        [block, head]: [usize; 2],
        read: &Sequences,
        how: Removal,
        rng: &mut Rng,
    ) -> Result<f64> {
        let n_layers = self.stack.blocks.len();
        if block >= n_layers {
            return Err(Error::NoSuchLayer { layer: block, n_layers });
        }
        let dims = self.stack.blocks[block].attention.function.parameters().dims();
        let (width, d_v, n_heads) = (dims.concat_width(), dims.d_v(), dims.n_heads());
        if head >= n_heads {
            return Err(Error::NoSuchHead { head, n_heads });
        }
        let removed = Removed { model: self, read, block, how };
        Ok(removed.score(&axes(width, head * d_v, d_v), None, rng)?.0)
    }
}

/// A block of a model, to be run without some directions of its concatenation.
struct Removed<'a> {
    model: &'a Predictor,
    read: &'a Sequences,
    block: usize,
    how: Removal,
}

impl Removed<'_> {
    /// The score without these directions, and how much the block's output misses on
    /// average; scaled so that it misses `length`, if that is given.
    fn score(
        &self,
        directions: &Matrix<f32>,
        length: Option<f64>,
        rng: &mut Rng,
    ) -> Result<(f64, f64)> {
        let attention = &self.model.stack.blocks[self.block].attention.function;
        let w_o = &attention.parameters().w_o().weight;
        let mut misses = 0.0;
        let logits = self.model.logits_with(self.read, |l, concat| {
            if l != self.block {
                return concat;
            }
            let taken = self.taken(&concat, directions, rng);
            let lengths =
                (&taken * w_o).row_iter().map(|row| f64::from(row.norm())).sum();
            misses = mean(lengths, taken.nrows());
            let scale = length.map_or(1.0, |length| length / misses);
            concat - taken * scale as f32
        })?;
        Ok((self.read.score(&largest(&logits)), misses))
    }

    /// What is to be subtracted, position by position.
    fn taken(
        &self,
        concat: &Matrix<f32>,
        directions: &Matrix<f32>,
        rng: &mut Rng,
    ) -> Matrix<f32> {
        let n_tokens = self.read.n_tokens;
        let mut all = Matrix::zeros(concat.nrows(), concat.ncols());
        for t in 0..n_tokens {
            let rows: Vec<usize> = (t..concat.nrows()).step_by(n_tokens).collect();
            let taken = taken(&concat.select_rows(&rows), directions, self.how, rng);
            for (&row, taken) in rows.iter().zip(taken.row_iter()) {
                all.row_mut(row).copy_from(&taken);
            }
        }
        all
    }
}

fn mean(sum: f64, n: usize) -> f64 {
    sum / n.max(1) as f64
}
