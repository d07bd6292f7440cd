//! Fewer heads of keys and values than a model was trained with.

use attention::{Linear, Matrix, Real};
use variants::{Sizes, VariantAttention};

use crate::Result;

/// What becomes of the heads of keys and values that are made one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// Their mean.
    Mean,
    /// The first of them.
    First,
}

/// The layer with fewer heads of keys and values: neighbours are made one.
///
/// ```
/// use attention::{Dims, Rng, SeedableRng};
/// use models::decoders::study::{Merge, merged};
/// use variants::{Changes, Sizes, VariantAttention};
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let sizes = Sizes::new(Dims::new(24, 6)?, 6)?;
/// let layer: VariantAttention = VariantAttention::random(sizes, true, Changes::default(), rng)?;
/// assert_eq!(merged(&layer, 2, Merge::Mean)?.sizes().groups.n_kv_heads(), 2);
/// assert!(merged(&layer, 4, Merge::Mean).is_err()); // 6 heads make no 4 groups
/// # Ok::<(), models::Error>(())
/// ```
///
/// # Errors
/// [`Error::Sizes`](crate::Error::Sizes) unless groups of one size come out.
///
/// # Source
/// Ainslie et al. 2023, section 2.1. They then train on, with a twentieth of the training;
/// here nothing is trained.
pub fn merged<T: Real>(
    layer: &VariantAttention<T>,
    n_kv_heads: usize,
    merge: Merge,
) -> Result<VariantAttention<T>> {
    let (dims, before) = (layer.sizes().dims, layer.sizes().groups.n_kv_heads());
    attention::Error::expect_positive("n_kv_heads", n_kv_heads)?;
    if !before.is_multiple_of(n_kv_heads) {
        return Err(attention::Error::Groups { n_heads: before, n_kv_heads }.into());
    }
    let fewer = |linear: &Linear<T>, width: usize| {
        let fewer = |columns: &Matrix<T>| {
            columns_merged(columns, width, before, n_kv_heads, merge)
        };
        let bias = linear.bias.as_ref().map(|bias| {
            fewer(&Matrix::from_row_slice(1, bias.len(), bias.as_slice()))
                .row(0)
                .into_owned()
        });
        Linear::new(fewer(&linear.weight), bias)
    };
    let [w_q, w_k, w_v, w_o] = layer.projections();
    let (w_k, w_v) = (fewer(w_k, dims.d_k())?, fewer(w_v, dims.d_v())?);
    let projections = [w_q.clone(), w_k, w_v, w_o.clone()];
    let sizes = Sizes::new(dims, n_kv_heads)?;
    Ok(VariantAttention::new(sizes, projections, layer.changes().clone())?)
}

/// Blocks of `width` columns, as many neighbours of them made one as it takes.
fn columns_merged<T: Real>(
    columns: &Matrix<T>,
    width: usize,
    before: usize,
    after: usize,
    merge: Merge,
) -> Matrix<T> {
    let group = before / after;
    Matrix::from_fn(columns.nrows(), after * width, |row, column| {
        let of = |i: usize| {
            columns[(row, (column / width * group + i) * width + column % width)]
        };
        match merge {
            Merge::First => of(0),
            Merge::Mean => {
                (0..group).map(of).fold(T::zero(), |sum, x| sum + x) / T::of(group as f64)
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use attention::{Dims, Rng, SeedableRng};
    use variants::Changes;

    use super::*;

    #[test]
    fn weights_and_biases_of_keys_and_values_are_merged_and_no_others() {
        let rng = &mut Rng::seed_from_u64(1);
        let sizes = Sizes::new(Dims::new(12, 4).unwrap(), 2).unwrap();
        let layer: VariantAttention =
            VariantAttention::random(sizes, true, Changes::default(), rng).unwrap();
        for merge in [Merge::First, Merge::Mean] {
            let one = merged(&layer, 1, merge).unwrap();
            let all = one.projections().iter().zip(layer.projections()).enumerate();
            for (which, (found, whole)) in all {
                let bias = |it: &Linear| Matrix::from_rows(&[it.bias.clone().unwrap()]);
                let [found, whole] =
                    [found, whole].map(|it| [it.weight.clone(), bias(it)]);
                let expected = whole.map(|it| match (which, merge) {
                    (0 | 3, _) => it,
                    (_, Merge::First) => it.columns(0, 3).into_owned(),
                    (_, Merge::Mean) => (it.columns(0, 3) + it.columns(3, 3)) / 2.0,
                });
                assert_eq!(found, expected, "{merge:?}, projection {which}");
            }
        }
        assert_eq!(merged(&layer, 2, Merge::Mean).unwrap(), layer);
    }

    /// Of heads 0 to 3, two stay: the mean of 0 and 1, and that of 2 and 3.
    #[test]
    fn neighbours_are_merged() {
        let columns = Matrix::from_fn(1, 8, |_, column| (column / 2) as f64);
        let found = |merge| columns_merged(&columns, 2, 4, 2, merge);
        assert_eq!(
            found(Merge::Mean),
            Matrix::from_row_slice(1, 4, &[0.5, 0.5, 2.5, 2.5])
        );
        assert_eq!(
            found(Merge::First),
            Matrix::from_row_slice(1, 4, &[0.0, 0.0, 2.0, 2.0])
        );
    }
}
