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
    use attention::{Dims, Mask, MultiHeadAttention, Rng, SeedableRng, random_matrix};
    use variants::Changes;

    use super::*;

    /// A layer of 4 query heads on 2, whose heads of keys and values are 1 and 3 times
    /// the same.
    #[test]
    fn the_mean_of_heads_is_their_mean_and_the_first_is_the_first() {
        let rng = &mut Rng::seed_from_u64(1);
        let sizes = Sizes::new(Dims::new(12, 4).unwrap(), 2).unwrap();
        let layer: VariantAttention =
            VariantAttention::random(sizes, true, Changes::default(), rng).unwrap();
        let mut projections = layer.projections().clone();
        for linear in &mut projections[1..3] {
            let times_3 = linear.weight.columns(0, 3) * 3.0;
            linear.weight.columns_mut(3, 3).copy_from(&times_3);
            let bias = linear.bias.as_mut().unwrap();
            let times_3 = bias.columns(0, 3) * 3.0;
            bias.columns_mut(3, 3).copy_from(&times_3);
        }
        let layer =
            VariantAttention::new(sizes, projections, Changes::default()).unwrap();
        let x = random_matrix(5, 12, 1.0, rng);
        for (merge, factor) in [(Merge::First, 1.0), (Merge::Mean, 2.0)] {
            let found = merged(&layer, 1, merge).unwrap();
            // Both heads are the first, times the factor.
            let mut expected = layer.projections().clone();
            for linear in &mut expected[1..3] {
                let once = linear.weight.columns(0, 3) * factor;
                let bias_once = linear.bias.as_ref().unwrap().columns(0, 3) * factor;
                for head in [0, 3] {
                    linear.weight.columns_mut(head, 3).copy_from(&once);
                    linear
                        .bias
                        .as_mut()
                        .unwrap()
                        .columns_mut(head, 3)
                        .copy_from(&bias_once);
                }
            }
            let expected =
                VariantAttention::new(sizes, expected, Changes::default()).unwrap();
            let out = |layer: &VariantAttention| {
                layer.self_attend(&x, &Mask::Causal).unwrap().out
            };
            assert!((out(&found) - out(&expected)).amax() < 1e-12, "{merge:?}");
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
