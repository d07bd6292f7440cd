//! A weight from a file.
//!
//! A PyTorch file stores W as `[out, in]`, row after row: first the `d_in` numbers that
//! lead to output 0, then those that lead to output 1, and so on. PyTorch uses it as
//! `x · Wᵀ`. Return the matrix `[in, out]` that this book needs for `x · W`. In the
//! check, each number says where it is in the file: 21 is in row 2, column 1.
//!
//! nalgebra offers `Matrix::from_row_slice`, `Matrix::from_column_slice`, `transpose` and
//! `map`, and `Matrix::from_fn(rows, columns, |row, column| …)`, which fills entry by
//! entry.

use std::process::ExitCode;

use exercises::{Matrix, transposed_weights};

/// The weight that maps tokens of width `d_in` to tokens of width `d_out`.
///
/// # Shapes
/// `numbers` is `[d_out, d_in]`, row after row; the result is `[d_in, d_out]`.
// ANCHOR: answer
pub fn read_projection(numbers: &[f32], d_out: usize, d_in: usize) -> Matrix {
    // YOURS: the matrix that x is multiplied by.
    Matrix::from_row_slice(d_out, d_in, numbers).transpose().map(f64::from)
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    transposed_weights::check(read_projection)
}
