//! Attention on queries, keys and values that are ready: no projections.

use crate::{
    Attended, Error, Mask, Matrix, Real, Result, View, softmax_rows, weighted_values,
};

/// What one head gives back.
#[derive(Debug, Clone, PartialEq)]
pub struct FormulaPass<T: Real = f64> {
    /// `attn · v`, `[n_q, d_v]`.
    pub out: Matrix<T>,
    /// `q kᵀ · scale`, before the mask, `[n_q, n_kv]`.
    pub scores: Matrix<T>,
    /// The attention map, `[n_q, n_kv]`: row i is what query i attends to.
    pub attn: Matrix<T>,
}

/// One head on queries, keys and values that are ready: `softmax(q kᵀ · scale) v`.
///
/// Without a scale the scores are divided by √d_k. Blocks of a matrix are views, so head
/// i of a fused projection is `q.columns(i * d_k, d_k)`, and nothing is copied.
///
/// ```
/// use attention::{Mask, Matrix, attend_head};
///
/// let q = Matrix::from_row_slice(1, 1, &[2.0]);
/// let k = Matrix::from_row_slice(2, 1, &[0.0, 3f64.ln()]);
/// let v = Matrix::from_row_slice(2, 1, &[0.0, 1.0]);
/// let [q, k, v] = [q.as_view(), k.as_view(), v.as_view()];
/// let share = |scale| Ok(attend_head(q, k, v, scale, &Mask::None)?.out[(0, 0)]);
/// assert!((share(None)? - 0.9f64).abs() < 1e-15); // 9 : 1, since exp(2 ln 3) = 9
/// assert!((share(Some(0.5))? - 0.75).abs() < 1e-15); // 3 : 1
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Shapes
/// `q` is `[n_q, d_k]`, `k` is `[n_kv, d_k]`, `v` is `[n_kv, d_v]`; the mask is for
/// `[n_q, n_kv]` and for one head ([`Mask::of_head`]).
///
/// # Errors
/// [`Error::EmptySequence`], [`Error::ZeroSize`], [`Error::Shape`],
/// [`Error::KeyValueLengths`], or what [`Mask::check`] finds.
///
/// # Source
/// Vaswani et al. 2017, equation 1. Differs: the scale may be another, as in PyTorch's
/// `scaled_dot_product_attention`.
pub fn attend_head<T: Real>(
    q: View<'_, T>,
    k: View<'_, T>,
    v: View<'_, T>,
    scale: Option<T>,
    mask: &Mask,
) -> Result<FormulaPass<T>> {
    check_heads([q, k, v], [1, 1], mask)?;
    let products = q * k.transpose(); // [n_q, n_kv]
    let scores = match scale {
        None => products / T::of(q.ncols() as f64).sqrt(),
        Some(scale) => products * scale,
    };
    let masked = mask.apply(scores.clone()); // [n_q, n_kv]
    let attn = softmax_rows(masked); // [n_q, n_kv]
    let out = weighted_values(&attn, v); // [n_q, d_v]
    Ok(FormulaPass { out, scores, attn })
}

/// All heads on queries, keys and values that are ready, side by side in columns: the
/// heads' outputs side by side, and their maps.
///
/// ```
/// use attention::{Mask, Matrix, Rng, SeedableRng, attend_head, attend_heads, random_matrix};
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let [q, k, v]: [Matrix; 3] = [3, 5, 5].map(|n| random_matrix(n, 2 * 4, 1.0, rng));
/// let [q, k, v] = [q.as_view(), k.as_view(), v.as_view()];
/// let all = attend_heads(q, k, v, 2, None, &Mask::Causal)?;
/// assert_eq!(all.out.shape(), (3, 2 * 4));
///
/// let (q_1, k_1, v_1) = (q.columns(4, 4), k.columns(4, 4), v.columns(4, 4));
/// let second = attend_head(q_1, k_1, v_1, None, &Mask::Causal)?;
/// assert_eq!(all.out.columns(4, 4), second.out);
/// assert_eq!(all.attn[1], second.attn);
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Shapes
/// `q` is `[n_q, h · d_k]`, `k` is `[n_kv, h · d_k]`, `v` is `[n_kv, h · d_v]`, the output
/// `[n_q, h · d_v]`; each map is `[n_q, n_kv]`.
///
/// # Errors
/// As [`attend_head`]; [`Error::HeadColumns`] if the columns cannot be shared out among
/// the heads.
pub fn attend_heads<T: Real>(
    q: View<'_, T>,
    k: View<'_, T>,
    v: View<'_, T>,
    n_heads: usize,
    scale: Option<T>,
    mask: &Mask,
) -> Result<Attended<T>> {
    let [d_k, d_v] = check_heads([q, k, v], [n_heads; 2], mask)?;
    let mut out = Matrix::zeros(q.nrows(), v.ncols()); // [n_q, h · d_v]
    let mut attn = Vec::with_capacity(n_heads);
    for i in 0..n_heads {
        let (q_i, k_i) = (q.columns(i * d_k, d_k), k.columns(i * d_k, d_k));
        let v_i = v.columns(i * d_v, d_v);
        let head = attend_head(q_i, k_i, v_i, scale, &mask.of_head(i))?;
        out.columns_mut(i * d_v, d_v).copy_from(&head.out);
        attn.push(head.attn);
    }
    Ok(Attended { out, attn })
}

/// Whether queries, keys and values that are ready fit together and with the mask, where
/// so many heads of queries read so many of keys and values. Gives `d_k` and `d_v`.
///
/// # Shapes
/// `q` is `[n_q, n_heads · d_k]`, `k` is `[n_kv, n_kv_heads · d_k]`, `v` is
/// `[n_kv, n_kv_heads · d_v]`.
///
/// # Errors
/// As [`attend_heads`]; [`Error::ZeroSize`] without heads.
pub fn check_heads<T: Real>(
    [q, k, v]: [View<'_, T>; 3],
    [n_heads, n_kv_heads]: [usize; 2],
    mask: &Mask,
) -> Result<[usize; 2]> {
    Error::expect_positive("n_heads", n_heads)?;
    Error::expect_positive("n_kv_heads", n_kv_heads)?;
    for (what, matrix) in [("q", q), ("k", k), ("v", v)] {
        if matrix.nrows() == 0 {
            return Err(Error::EmptySequence { what, shape: matrix.shape() });
        }
    }
    Error::expect_positive("d_k", q.ncols())?;
    Error::expect_positive("d_v", v.ncols())?;
    let width = |what, n_columns: usize, n_heads| match n_columns % n_heads {
        0 => Ok(n_columns / n_heads),
        _ => Err(Error::HeadColumns { what, n_columns, n_heads }),
    };
    let d_k = width("q", q.ncols(), n_heads)?;
    let d_v = width("v", v.ncols(), n_kv_heads)?;
    let (n_q, n_kv) = (q.nrows(), k.nrows());
    Error::expect_shape("k", (n_kv, n_kv_heads * d_k), k.shape())?;
    if v.nrows() != n_kv {
        return Err(Error::KeyValueLengths { n_keys: n_kv, n_values: v.nrows() });
    }
    mask.check(n_heads, n_q, n_kv)?;
    Ok([d_k, d_v])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zeros((n_rows, n_cols): (usize, usize)) -> Matrix {
        Matrix::zeros(n_rows, n_cols)
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_numbers() {
        let refused = |q, k, v, n_heads, mask: &Mask| {
            let [q, k, v] = [zeros(q), zeros(k), zeros(v)];
            let [q, k, v] = [q.as_view(), k.as_view(), v.as_view()];
            attend_heads(q, k, v, n_heads, None, mask).unwrap_err()
        };
        let none = &Mask::None;
        insta::assert_snapshot!(refused((0, 4), (3, 4), (3, 4), 2, none), @"q has shape (0, 4): it holds no tokens");
        insta::assert_snapshot!(refused((2, 0), (3, 0), (3, 4), 2, none), @"d_k is 0, and must be at least 1");
        insta::assert_snapshot!(refused((2, 4), (3, 6), (3, 4), 2, none), @"k has shape (3, 6), expected (3, 4)");
        insta::assert_snapshot!(refused((2, 4), (3, 4), (2, 4), 2, none), @"key has 3 tokens and value has 2: each key needs its value");
        insta::assert_snapshot!(refused((2, 4), (3, 4), (3, 4), 0, none), @"n_heads is 0, and must be at least 1");
        insta::assert_snapshot!(refused((2, 4), (3, 4), (3, 5), 2, none), @"v has 5 columns, which cannot be cut into 2 heads of equal width");
        insta::assert_snapshot!(refused((2, 4), (3, 4), (3, 4), 2, &Mask::FirstKeys(4)), @"the mask lets the first 4 keys be seen and there are only 3");
        insta::assert_snapshot!(refused((2, 4), (3, 4), (3, 4), 2, &Mask::PerHead(vec![])), @"0 masks were given for 2 heads: give one per head");
    }

    #[test]
    fn a_scale_of_one_over_the_root_is_what_is_left_out() {
        let q = Matrix::from_row_slice(2, 4, &[1.0, 2.0, 0.5, 0.0, -1.0, 1.0, 1.0, 3.0]);
        let of = |scale| {
            let all = q.as_view();
            attend_head(all, all, all, scale, &Mask::Causal).unwrap()
        };
        assert_eq!(of(None), of(Some(0.5))); // √4 = 2
        assert_ne!(of(None), of(Some(0.25)));
    }
}
