//! One check of what goes into a layer, made by every stage before it computes.

use crate::{Batch, Dims, Error, Mask, Matrix, Real, Result};

/// Compares query, key, value and mask with the sizes of a layer.
///
/// # Shapes
/// `query` is `[n_q, d_model]`, `key` is `[n_kv, key_width]`, `value` is
/// `[n_kv, value_width]`, and the mask is for `[n_q, n_kv]`.
///
/// # Errors
/// [`Error::EmptySequence`], [`Error::Shape`], [`Error::KeyValueLengths`], or what
/// [`Mask::check`] finds.
pub fn check_inputs<T: Real>(
    dims: Dims,
    query: &Matrix<T>,
    key: &Matrix<T>,
    value: &Matrix<T>,
    mask: &Mask,
) -> Result<()> {
    let inputs = [
        ("query", query, dims.d_model()),
        ("key", key, dims.key_width()),
        ("value", value, dims.value_width()),
    ];
    for (what, tokens, width) in inputs {
        if tokens.nrows() == 0 {
            return Err(Error::EmptySequence { what, shape: tokens.shape() });
        }
        Error::expect_shape(what, (tokens.nrows(), width), tokens.shape())?;
    }
    let (n_q, n_kv) = (query.nrows(), key.nrows());
    if value.nrows() != n_kv {
        return Err(Error::KeyValueLengths { n_keys: n_kv, n_values: value.nrows() });
    }
    mask.check(dims.n_heads(), n_q, n_kv)
}

/// Compares the query, key, value and masks of a batch with the sizes of a layer.
///
/// # Shapes
/// `query` is `[n_sequences · n_q, d_model]`, `key` and `value` are
/// `[n_sequences · n_kv, …]`; `masks` has one mask for all sequences, or one a sequence
/// (each for `[n_q, n_kv]`).
///
/// # Errors
/// [`Error::BatchLength`] or [`Error::Length`] if query, key, value or masks differ in
/// number; what [`check_inputs`] finds.
pub fn check_batch<T: Real>(
    dims: Dims,
    query: &Batch<T>,
    key: &Batch<T>,
    value: &Batch<T>,
    masks: &[Mask],
) -> Result<()> {
    let expected = query.n_sequences();
    for (what, found) in [("key", key.n_sequences()), ("value", value.n_sequences())] {
        if found != expected {
            return Err(Error::BatchLength { what, expected, found });
        }
    }
    if masks.len() != 1 {
        Error::expect_length("the list of masks", expected, masks.len())?;
    }
    check_inputs(dims, query.tokens(), key.tokens(), value.tokens(), &Mask::None)?;
    let (n_q, n_kv) = (query.n_tokens(), key.n_tokens());
    masks.iter().try_for_each(|mask| mask.check(dims.n_heads(), n_q, n_kv))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_that_do_not_fit_are_refused_with_their_numbers() {
        let dims = Dims::new(8, 2).unwrap();
        let refused = |q: (usize, usize), k: (usize, usize), v: (usize, usize)| {
            let zeros = |(rows, cols)| Matrix::<f64>::zeros(rows, cols);
            check_inputs(dims, &zeros(q), &zeros(k), &zeros(v), &Mask::None)
                .unwrap_err()
                .to_string()
        };
        insta::assert_snapshot!(refused((0, 8), (5, 8), (5, 8)), @"query has shape (0, 8): it holds no tokens");
        insta::assert_snapshot!(refused((4, 8), (5, 7), (5, 8)), @"key has shape (5, 7), expected (5, 8)");
        insta::assert_snapshot!(refused((4, 8), (5, 8), (6, 8)), @"key has 5 tokens and value has 6: each key needs its value");
    }
}
