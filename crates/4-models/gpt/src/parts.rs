//! The parameters of a model as one list, and where each part of it lies.
//!
//! All rungs take the same list and give gradients in the same order.

use attention::Matrix;
use block::{Embedding, Positions};

use crate::scalars::{D_FF, D_MODEL, N_LETTERS, N_POSITIONS};

/// A part of the list: its name, and the rows and columns that it has there, row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// `w_q`.
    pub name: &'static str,
    /// Rows and columns: a bias is one row.
    pub shape: (usize, usize),
}

/// Every part, in order.
pub const PARTS: [Part; 20] = [
    part("letters", (N_LETTERS, D_MODEL)),
    part("positions", (N_POSITIONS, D_MODEL)),
    part("norm_1.gain", (1, D_MODEL)),
    part("norm_1.bias", (1, D_MODEL)),
    part("w_q", (D_MODEL, D_MODEL)),
    part("b_q", (1, D_MODEL)),
    part("w_k", (D_MODEL, D_MODEL)),
    part("b_k", (1, D_MODEL)),
    part("w_v", (D_MODEL, D_MODEL)),
    part("b_v", (1, D_MODEL)),
    part("w_o", (D_MODEL, D_MODEL)),
    part("b_o", (1, D_MODEL)),
    part("norm_2.gain", (1, D_MODEL)),
    part("norm_2.bias", (1, D_MODEL)),
    part("w_1", (D_MODEL, D_FF)),
    part("b_1", (1, D_FF)),
    part("w_2", (D_FF, D_MODEL)),
    part("b_2", (1, D_MODEL)),
    part("last_norm.gain", (1, D_MODEL)),
    part("last_norm.bias", (1, D_MODEL)),
];

const fn part(name: &'static str, shape: (usize, usize)) -> Part {
    Part { name, shape }
}

/// The list, cut into its parts.
pub(crate) fn cut<T>(mut list: &[T]) -> [&[T]; 20] {
    PARTS.map(|Part { shape: (rows, columns), .. }| {
        list.split_off(..rows * columns).expect("numbers for every part")
    })
}

/// The same, to be written into.
pub(crate) fn cut_mut<T>(mut list: &mut [T]) -> [&mut [T]; 20] {
    PARTS.map(|Part { shape: (rows, columns), .. }| {
        list.split_off_mut(..rows * columns).expect("numbers for every part")
    })
}

/// Part i of a list, as a matrix.
pub(crate) fn matrix(parameters: &[f64], i: usize) -> Matrix {
    let (rows, columns) = PARTS[i].shape;
    Matrix::from_row_slice(rows, columns, cut(parameters)[i])
}

/// The two tables of a list.
pub(crate) fn embedding(parameters: &[f64]) -> Embedding {
    let positions = Positions::Learned(matrix(parameters, 1));
    Embedding { tokens: matrix(parameters, 0), scale: 1.0, positions }
}
