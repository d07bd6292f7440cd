//! The formula with its changes, on queries, keys and values that are ready.

use attention::{
    Attended, Error, Mask, Matrix, Real, Result, View, check_heads, softmax_rows,
    weighted_values,
};

use crate::{Changes, Groups, Positions};

/// One head, step by step; each matrix but the last is `[n_q, n_kv]`.
#[derive(Debug, Clone, PartialEq)]
pub struct VariantHeadPass<T: Real = f64> {
    /// `q_i k_gᵀ · scale`.
    pub scores: Matrix<T>,
    /// The same within the soft cap.
    pub capped: Matrix<T>,
    /// The same with what distance takes away or adds, and −∞ where a mask blocks.
    pub masked: Matrix<T>,
    /// The map: how each query spreads its attention.
    pub attn: Matrix<T>,
    /// What the head reads, `[n_q, d_v]`.
    pub out: Matrix<T>,
}

/// Every head, step by step.
///
/// ```
/// use attention::{Mask, Rng, SeedableRng, random_matrix};
/// use variants::{Changes, Groups, Positions, attend};
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let groups = Groups::new(4, 2)?; // 4 query heads of 8, 2 heads of keys and values
/// let q = random_matrix::<f64>(3, 4 * 8, 1.0, rng);
/// let [k, v] = [0, 1].map(|_| random_matrix::<f64>(5, 2 * 8, 1.0, rng));
/// let views = [q.as_view(), k.as_view(), v.as_view()];
/// let at = Positions::new(3, 5);
/// let heads = attend(views, groups, &at, &Changes::default(), &Mask::Causal)?;
/// assert_eq!(heads.len(), 4);
/// assert_eq!(heads[3].attn.shape(), (3, 5));
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Shapes
/// `q` is `[n_q, n_heads · d_k]`, `k` is `[n_kv, n_kv_heads · d_k]` and `v` is
/// `[n_kv, n_kv_heads · d_v]`, queries and keys being [prepared](Changes::prepare_queries);
/// `positions` has one entry per query and per key, the mask is for `[n_q, n_kv]`.
///
/// # Errors
/// [`attention::Error`], or what [`Changes::check`] finds.
pub fn attend<T: Real>(
    [q, k, v]: [View<'_, T>; 3],
    groups: Groups,
    positions: &Positions,
    changes: &Changes<T>,
    mask: &Mask,
) -> Result<Vec<VariantHeadPass<T>>> {
    changes.check(groups, q.ncols() / groups.n_heads())?;
    attend_with([q, k, v], groups, positions, changes, mask)
}

/// The same with changes that are known to fit.
pub(crate) fn attend_with<T: Real>(
    [q, k, v]: [View<'_, T>; 3],
    groups: Groups,
    positions: &Positions,
    changes: &Changes<T>,
    mask: &Mask,
) -> Result<Vec<VariantHeadPass<T>>> {
    let n_heads = [groups.n_heads(), groups.n_kv_heads()];
    let [d_k, d_v] = check_heads([q, k, v], n_heads, mask)?;
    let Positions { queries, keys } = positions;
    Error::expect_length("the list of query positions", q.nrows(), queries.len())?;
    Error::expect_length("the list of key positions", k.nrows(), keys.len())?;
    let mask = changes.mask(mask, positions);
    let head = |i| {
        let g = groups.kv_head(i);
        let (q_i, k_g) = (q.columns(i * d_k, d_k), k.columns(g * d_k, d_k));
        let v_g = v.columns(g * d_v, d_v);
        attend_head([q_i, k_g, v_g], i, positions, changes, &mask.of_head(i))
    };
    Ok((0..groups.n_heads()).map(head).collect())
}

// ANCHOR: attend_head
fn attend_head<T: Real>(
    [q_i, k_g, v_g]: [View<'_, T>; 3],
    head: usize,
    positions: &Positions,
    changes: &Changes<T>,
    mask: &Mask,
) -> VariantHeadPass<T> {
    let products = q_i * k_g.transpose(); // [n_q, n_kv]
    let scores = match changes.scale {
        None => products / T::of(q_i.ncols() as f64).sqrt(),
        Some(scale) => products * T::of(scale),
    };
    let capped = match &changes.soft_cap {
        None => scores.clone(),
        Some(cap) => cap.apply(scores.clone()),
    };
    let mut biased = capped.clone();
    if let Some(alibi) = &changes.alibi {
        for ((i, j), score) in entries(&mut biased) {
            *score += alibi.bias(head, positions.distance(i, j));
        }
    }
    if let Some(relative) = &changes.relative {
        for ((i, j), score) in entries(&mut biased) {
            *score += relative.bias(head, positions.distance(i, j));
        }
    }
    let masked = mask.apply(biased);
    let attn = match &changes.sink {
        None => softmax_rows(masked.clone()),
        Some(sink) => sink.softmax_rows(head, masked.clone(), mask),
    };
    let out = weighted_values(&attn, v_g); // [n_q, d_v]
    VariantHeadPass { scores, capped, masked, attn, out }
}
// ANCHOR_END: attend_head

/// The heads' outputs side by side, `[n_q, n_heads · d_v]`, and their maps.
pub fn attended<T: Real>(heads: Vec<VariantHeadPass<T>>) -> Attended<T> {
    let n_q = heads.first().map_or(0, |head| head.out.nrows());
    let columns: Vec<_> = heads.iter().flat_map(|head| head.out.column_iter()).collect();
    let out = match columns.is_empty() {
        true => Matrix::zeros(n_q, 0),
        false => Matrix::from_columns(&columns),
    };
    Attended { out, attn: heads.into_iter().map(|head| head.attn).collect() }
}

/// Each entry with its row and column.
fn entries<T: Real>(
    matrix: &mut Matrix<T>,
) -> impl Iterator<Item = ((usize, usize), &mut T)> {
    let n_rows = matrix.nrows().max(1);
    matrix.iter_mut().enumerate().map(move |(at, x)| ((at % n_rows, at / n_rows), x))
}
