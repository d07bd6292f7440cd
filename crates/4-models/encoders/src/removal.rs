//! Heads taken away: what a layer is without them.

use attention::{
    Dims, Error as SizeError, LayerParameters, Linear, Matrix, Real, RowVector,
};

use crate::{Error, Result};

/// A layer in which some heads are replaced by constants: by zeros, or by what they say on
/// average.
///
/// What a head says goes through its rows of W^O alone. So a head that always said `m` is
/// a layer whose rows are zero, and whose bias has `m W_i^O` more. No stage need know of
/// it.
///
/// # Shapes
/// `heads` has an index and a replacement for each head to be removed; `None` is zeros, a
/// replacement is `[d_v]`.
///
/// # Errors
/// [`Error::Head`] for one that is not there; [`Error::Sizes`] for a replacement of another
/// width.
///
/// # Source
/// Michel et al. 2019, section 2.2 (zeros).
pub fn removed<T: Real>(
    parameters: &LayerParameters<T>,
    heads: &[(usize, Option<RowVector<T>>)],
) -> Result<LayerParameters<T>> {
    let w_o = output_without(parameters.w_o(), parameters.dims(), heads)?;
    Ok(LayerParameters::new(parameters.heads().to_vec(), w_o)?)
}

/// The same for W^O alone, all of a layer that changes.
///
/// # Shapes
/// `w_o` is `[h · d_v, d_model]`, a replacement `[d_v]`.
///
/// # Errors
/// As [`removed`].
pub fn output_without<T: Real>(
    w_o: &Linear<T>,
    dims: Dims,
    heads: &[(usize, Option<RowVector<T>>)],
) -> Result<Linear<T>> {
    let Linear { mut weight, bias } = w_o.clone();
    let mut bias = bias.unwrap_or_else(|| RowVector::zeros(dims.d_model()));
    for (head, instead) in heads {
        expect_head(dims, *head)?;
        let mut rows = weight.rows_mut(head * dims.d_v(), dims.d_v());
        if let Some(instead) = instead {
            let expected = (1, dims.d_v());
            SizeError::expect_shape(
                "what a head is replaced by",
                expected,
                instead.shape(),
            )?;
            bias += instead * &rows;
        }
        rows.fill(T::zero());
    }
    Ok(Linear::new(weight, Some(bias))?)
}

/// What a head says, `A_i (x W_i^V + b_i^V)`, before W^O.
///
/// # Shapes
/// `x` is `[n_tokens, d_model]`, what entered the layer; `map` is `[n_tokens, n_tokens]`,
/// the head's; the result is `[n_tokens, d_v]`.
///
/// # Errors
/// [`Error::Head`] for one that is not there; [`Error::Sizes`] for other shapes.
pub fn head_output<T: Real>(
    parameters: &LayerParameters<T>,
    head: usize,
    x: &Matrix<T>,
    map: &Matrix<T>,
) -> Result<Matrix<T>> {
    expect_head(parameters.dims(), head)?;
    SizeError::expect_shape("the map", (x.nrows(), x.nrows()), map.shape())?;
    Ok(map * parameters.heads()[head].w_v.forward(x)?)
}

fn expect_head(dims: Dims, head: usize) -> Result<()> {
    let n_heads = dims.n_heads();
    if head < n_heads { Ok(()) } else { Err(Error::Head { head, n_heads }) }
}

#[cfg(test)]
mod tests {
    use attention::{Rng, SeedableRng, random_matrix};

    use super::*;

    /// `Concat(z) W^O + b^O`.
    fn merged(parameters: &LayerParameters, z: &[Matrix]) -> Matrix {
        let mut concat = Matrix::zeros(5, 12);
        for (i, z) in z.iter().enumerate() {
            concat.columns_mut(i * 4, 4).copy_from(z);
        }
        parameters.w_o().forward(&concat).unwrap()
    }

    #[test]
    fn a_removed_head_says_what_replaces_it() {
        let rng = &mut Rng::seed_from_u64(1);
        let dims = Dims::new(12, 3).unwrap();
        let parameters: LayerParameters = LayerParameters::random(dims, true, rng);
        let (x, map) = (random_matrix(5, 12, 1.0, rng), random_matrix(5, 5, 1.0, rng));
        let z = [0, 1, 2].map(|i| head_output(&parameters, i, &x, &map).unwrap());
        for instead in [None, Some(z[1].row_mean())] {
            let less = removed(&parameters, &[(1, instead.clone())]).unwrap();
            let instead = instead.unwrap_or_else(|| RowVector::zeros(4));
            let mut replaced = z.clone();
            replaced[1] = Matrix::from_rows(&vec![instead; 5]);
            let (found, expected) = (merged(&less, &z), merged(&parameters, &replaced));
            let difference = attention::max_abs_diff(&found, &expected).unwrap();
            assert!(difference < 1e-12, "{difference:e}");
        }
        insta::assert_snapshot!(removed(&parameters, &[(3, None)]).unwrap_err(), @"there is no head 3: the layer has 3, from 0");
        let wide = Some(RowVector::zeros(5));
        insta::assert_snapshot!(removed(&parameters, &[(0, wide)]).unwrap_err(), @"what a head is replaced by has shape (1, 5), expected (1, 4)");
    }
}
