//! A place in a model where something is ablated, and the control that fits it.

use attention::{Dims, Linear, Matrix, Real, Rng};

use crate::{Directions, Replacement};

/// A concatenation that was kept, and what reads it.
#[derive(Debug, Clone, Copy)]
pub struct Site<'a, T: Real = f32> {
    /// The layer's sizes.
    pub dims: Dims,
    /// `Concat(head_1, …, head_h)`, `[n, h · d_v]`.
    pub concat: &'a Matrix<f32>,
    /// What reads it, `[h · d_v, d_model]`.
    pub w_o: &'a Linear<T>,
    /// What stands in the stead of what is taken.
    pub replacement: Replacement,
    /// How many positions the rows go through again and again. What replaces a row comes
    /// from rows at the same position; with 1, from all rows.
    pub n_positions: usize,
}

impl<T: Real> Site<'_, T> {
    /// What is to be subtracted so that these directions are replaced, `[n, h · d_v]`.
    pub fn taken(&self, directions: &Directions, rng: &mut Rng) -> Matrix<f32> {
        let mut all = Matrix::zeros(self.concat.nrows(), self.concat.ncols());
        for position in 0..self.n_positions {
            let rows = (position..all.nrows()).step_by(self.n_positions);
            let rows: Vec<usize> = rows.collect();
            let concat = self.concat.select_rows(&rows);
            let taken = directions.taken(&concat, self.replacement, rng);
            for (&row, taken) in rows.iter().zip(taken.row_iter()) {
                all.row_mut(row).copy_from(&taken);
            }
        }
        all
    }

    /// What is taken with each head, and how far the layer's output moves without one, on
    /// average over heads.
    pub fn heads(&self, rng: &mut Rng) -> (Vec<Matrix<f32>>, f64) {
        let n_heads = self.dims.n_heads();
        let directions = Directions::of_heads(self.dims);
        let heads: Vec<_> = directions.map(|it| self.taken(&it, rng)).collect();
        let moved = heads.iter().map(|taken| self.moved(taken) / n_heads as f64);
        let moved = moved.fold(0.0, |sum, moved| sum + moved);
        (heads, moved)
    }

    /// The control: as many random directions as a head has. What is taken with them is
    /// multiplied by a number so that the layer's output moves this far; the number comes
    /// with it.
    pub fn control(&self, moved: f64, rng: &mut Rng) -> (Matrix<f32>, f64) {
        let taken = self.taken(&Directions::random(self.dims, rng), rng);
        let scale = moved / self.moved(&taken);
        (taken * scale as f32, scale)
    }

    /// How far the layer's output moves without this part of the concatenation: the mean
    /// length over rows.
    pub fn moved(&self, taken: &Matrix<f32>) -> f64 {
        let out = taken.map(|x| T::of(f64::from(x))) * &self.w_o.weight; // [n, d_model]
        let lengths = out.row_iter().map(|row| row.norm().to_f64());
        lengths.sum::<f64>() / out.nrows().max(1) as f64
    }
}
