//! Norms and sums of tokens, column by column as they lie in memory.

use attention::{Linear, Matrix, RowVector};
use block::{Norm, RmsNorm};

/// `norm(x)` to `y`, or x without a norm.
pub(super) fn norm(
    norm: Option<&Norm<f32>>,
    x: &Matrix<f32>,
    y: &mut Matrix<f32>,
) -> attention::Result<()> {
    match norm {
        None => y.clone_from(x),
        Some(Norm::Layer(layer)) => *y = layer.forward(x)?,
        Some(Norm::Rms(rms) | Norm::RmsInF32(rms)) => root_mean_square(rms, x, y),
    }
    Ok(())
}

fn root_mean_square(norm: &RmsNorm<f32>, x: &Matrix<f32>, y: &mut Matrix<f32>) {
    let (n, width) = x.shape();
    let mut squares = vec![0f32; n];
    for column in x.as_slice().chunks_exact(n.max(1)) {
        squares.iter_mut().zip(column).for_each(|(sum, x)| *sum += x * x);
    }
    let eps = norm.eps as f32;
    for sum in &mut squares {
        *sum = 1.0 / (*sum / width as f32 + eps).sqrt();
    }
    fit(y, n, width);
    let columns = x.as_slice().chunks_exact(n.max(1)).zip(norm.gain.iter());
    for (to, (from, gain)) in y.as_mut_slice().chunks_exact_mut(n.max(1)).zip(columns) {
        for ((to, x), factor) in to.iter_mut().zip(from).zip(&squares) {
            *to = x * factor * gain;
        }
    }
}

/// Each head of `x`, `[n, n_heads · d_k]`, divided by its root mean square and multiplied
/// by the gains, `[d_k]`.
pub(super) fn normalise(x: &mut Matrix<f32>, gains: &RowVector<f32>, eps: f32) {
    let (n, d_k) = (x.nrows(), gains.len());
    for head in x.as_mut_slice().chunks_exact_mut((n * d_k).max(1)) {
        let mut squares = vec![0f32; n];
        for column in head.chunks_exact(n) {
            squares.iter_mut().zip(column).for_each(|(sum, x)| *sum += x * x);
        }
        for sum in &mut squares {
            *sum = 1.0 / (*sum / d_k as f32 + eps).sqrt();
        }
        for (column, gain) in head.chunks_exact_mut(n).zip(gains) {
            column.iter_mut().zip(&squares).for_each(|(x, factor)| *x *= factor * gain);
        }
    }
}

/// Another shape, where it is needed; what is in it is written anew.
pub(super) fn fit(matrix: &mut Matrix<f32>, n_rows: usize, n_columns: usize) {
    if matrix.shape() != (n_rows, n_columns) {
        *matrix = Matrix::zeros(n_rows, n_columns);
    }
}

/// Projections of the same tokens as one, side by side.
pub(super) fn side_by_side<const N: usize>(linears: [Linear<f32>; N]) -> Linear<f32> {
    let d_in = linears.first().map_or(0, Linear::d_in);
    let has_bias = linears.iter().any(|linear| linear.bias.is_some());
    let mut bias = Vec::new();
    let mut weight = Vec::new();
    for Linear { weight: part, bias: of_part } in linears {
        let width = part.ncols();
        weight.extend_from_slice(part.as_slice());
        match of_part {
            Some(of_part) => bias.extend_from_slice(of_part.as_slice()),
            None => bias.resize(bias.len() + width, 0.0),
        }
    }
    let width = bias.len();
    Linear {
        weight: Matrix::from_vec(d_in, width, weight),
        bias: has_bias.then(|| RowVector::from_vec(bias)),
    }
}
