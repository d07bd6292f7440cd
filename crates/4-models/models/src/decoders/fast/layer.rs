//! Norms and sums of tokens, column by column as they lie in memory.

use attention::{Linear, Matrix, RowVector};
use block::Norm;

/// `norm(x)` to `y`, or x without a norm.
pub(super) fn norm(
    norm: Option<&Norm<f32>>,
    x: &Matrix<f32>,
    y: &mut Matrix<f32>,
) -> attention::Result<()> {
    match norm {
        None => y.clone_from(x),
        Some(Norm::Layer(layer)) => *y = layer.forward(x)?,
        Some(Norm::Rms(rms) | Norm::RmsInF32(rms)) => {
            y.clone_from(x);
            normalise(y, &rms.gain, rms.eps as f32);
        }
    }
    Ok(())
}

/// Each head of `x`, `[n, n_heads · d_k]`, divided by its root mean square and multiplied
/// by the gains, `[d_k]`; whole rows, where there are as many gains.
pub(super) fn normalise(x: &mut Matrix<f32>, gains: &RowVector<f32>, eps: f32) {
    let (n, d_k) = (x.nrows(), gains.len());
    for head in x.as_mut_slice().chunks_exact_mut((n * d_k).max(1)) {
        let mut squares = vec![0f32; n];
        if n == 1 {
            // A sum waits for the one before it: so there are several.
            let (eights, rest) = head.as_chunks::<8>();
            let mut sums = [0f32; 8];
            for x in eights {
                sums.iter_mut().zip(x).for_each(|(sum, x)| *sum += x * x);
            }
            squares[0] = sums.iter().copied().chain(rest.iter().map(|x| x * x)).sum();
        } else {
            for column in head.chunks_exact(n) {
                squares.iter_mut().zip(column).for_each(|(sum, x)| *sum += x * x);
            }
        }
        for sum in &mut squares {
            *sum = 1.0 / (*sum / d_k as f32 + eps).sqrt();
        }
        for (column, gain) in head.chunks_exact_mut(n).zip(gains) {
            column
                .iter_mut()
                .zip(&squares)
                .for_each(|(x, factor)| *x = *x * factor * gain);
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
pub(super) fn side_by_side(linears: &[Linear<f32>]) -> Linear<f32> {
    let d_in = linears.first().map_or(0, Linear::d_in);
    let has_bias = linears.iter().any(|linear| linear.bias.is_some());
    let weights = linears.iter().flat_map(|linear| linear.weight.as_slice());
    let (weight, bias) = (weights.copied().collect(), biases(linears));
    Linear {
        weight: Matrix::from_vec(d_in, bias.len(), weight),
        bias: has_bias.then(|| bias.into()),
    }
}

/// Their biases, zeros where there is none.
pub(super) fn biases(linears: &[Linear<f32>]) -> Vec<f32> {
    let of = |linear: &Linear<f32>| match &linear.bias {
        Some(bias) => bias.as_slice().to_vec(),
        None => vec![0.0; linear.d_out()],
    };
    linears.iter().flat_map(of).collect()
}
