//! Numbers row after row, as PyTorch, JAX and candle keep them: what `view` and `reshape` do.
//!
//! nalgebra keeps columns together, so a matrix here is read row by row before its numbers
//! are given another shape.

use attention::Matrix;

/// The numbers of matrices of one shape, one after the other.
pub fn numbers(matrices: &[Matrix]) -> Vec<f64> {
    let mut numbers = Vec::with_capacity(matrices.iter().map(|m| m.len()).sum());
    for matrix in matrices {
        // Columns of the transposed are rows.
        numbers.extend_from_slice(matrix.transpose().as_slice());
    }
    numbers
}

/// The same numbers as matrices of another shape, `view(-1, rows, columns)`.
pub fn view(numbers: &[f64], rows: usize, columns: usize) -> Vec<Matrix> {
    let matrices = numbers.chunks_exact(rows * columns);
    matrices.map(|m| Matrix::from_row_slice(rows, columns, m)).collect()
}

/// What is made of matrices row by row, of all of them at once: one product of many rows
/// takes less time than many products of few.
pub fn together(
    matrices: &[Matrix],
    made: impl Fn(&Matrix) -> Option<Matrix>,
) -> Option<Vec<Matrix>> {
    let (rows, columns) = matrices.first()?.shape();
    let is_one_shape = matrices.iter().all(|m| m.shape() == (rows, columns));
    if matrices.len() == 1 || rows == 0 || !is_one_shape {
        return matrices.iter().map(made).collect();
    }
    let mut all = Matrix::zeros(matrices.len() * rows, columns);
    for (at, m) in matrices.iter().enumerate() {
        all.rows_mut(at * rows, rows).copy_from(m);
    }
    let all = made(&all)?;
    Some((0..matrices.len()).map(|at| all.rows(at * rows, rows).into_owned()).collect())
}

/// The blocks of so many columns that lie side by side in a matrix.
pub fn column_blocks(m: &Matrix, width: usize) -> Vec<Matrix> {
    let all = (0..m.ncols()).step_by(width);
    all.map(|first| m.columns(first, width).into_owned()).collect()
}

/// `b` matrices `[n, d]` as `n` matrices `[b, d]`.
pub fn exchanged(matrices: &[Matrix]) -> Vec<Matrix> {
    (0..matrices[0].nrows()).map(|t| across(matrices, t)).collect()
}

/// Row `t` of each.
pub fn across(matrices: &[Matrix], t: usize) -> Matrix {
    Matrix::from_fn(matrices.len(), matrices[0].ncols(), |s, c| matrices[s][(t, c)])
}

/// `permute(order)` of numbers of this shape, made contiguous.
pub fn permuted(numbers: &[f64], shape: [usize; 3], order: [usize; 3]) -> Vec<f64> {
    let strides = [shape[1] * shape[2], shape[2], 1];
    let [a, b, c] = order.map(|axis| shape[axis]);
    let [step_a, step_b, step_c] = order.map(|axis| strides[axis]);
    let mut permuted = Vec::with_capacity(numbers.len());
    for i in 0..a {
        for j in 0..b {
            let first = i * step_a + j * step_b;
            permuted.extend((0..c).map(|k| numbers[first + k * step_c]));
        }
    }
    permuted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_keeps_the_order_and_a_permutation_changes_it() {
        let m = Matrix::from_row_slice(2, 3, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let flat = numbers(&[m]);
        assert_eq!(flat, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(
            view(&flat, 3, 2)[0].row(1).iter().copied().collect::<Vec<_>>(),
            [2.0, 3.0]
        );
        assert_eq!(permuted(&flat, [1, 2, 3], [0, 2, 1]), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
        assert_eq!(permuted(&flat, [2, 3, 1], [1, 0, 2]), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    }
}
