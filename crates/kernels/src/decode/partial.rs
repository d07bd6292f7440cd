//! Attention to some of the keys: the others are elsewhere.

use attention::{Mask, Matrix, Result};

use super::{GroupedAttention, GroupedHeads, PackedCache, Scoring};
use crate::packed::panels::{n_groups, rows_of};
use crate::packed::running::Normalisers;
use crate::tile::ROWS;

/// What some keys make of queries: outputs as if there were no other keys, and the two
/// numbers by which they are merged with those of other keys.
///
/// ```text
/// share_j = 2^(score_j − reference) / sum        the scores in exponents of 2
/// ```
///
/// So `reference + log2(sum)` is the logarithm of the sum of exponentials. Two partial
/// results p and p' make one: outputs are weighted by `sum · 2^reference`, where the larger
/// reference is taken from both first.
#[derive(Debug, Clone, PartialEq)]
pub struct Partial {
    /// Outputs, heads side by side, `[n_q, n_heads · d_v]`: zeros for a query that may
    /// attend to none of these keys.
    pub out: Matrix<f32>,
    /// What is subtracted from the scores of each query and head, `[n_q, n_heads]`: a number
    /// near the largest, and −∞ for a query that may attend to none.
    pub references: Matrix<f32>,
    /// The sum of `2^(score − reference)`, `[n_q, n_heads]`.
    pub sums: Matrix<f32>,
}

/// Attention of many queries to keys that come in parts.
///
/// ```
/// use attention::{Mask, Matrix};
/// use kernels::{GroupedHeads, PackedCache, PartialAttention};
///
/// let heads = GroupedHeads::new([1, 1], [1, 1])?;
/// let mut cache = PackedCache::new(heads);
/// let keys = Matrix::from_row_slice(2, 1, &[0.0, 3f32.ln()]);
/// cache.append(&keys, &Matrix::from_row_slice(2, 1, &[0.0, 1.0]))?;
///
/// let q = Matrix::from_element(1, 1, 1.0);
/// let partial = PartialAttention::new(heads)?.attend(&q, &cache, &Mask::None)?;
/// assert!((partial.out[0] - 0.75).abs() < 1e-6); // 3 : 1
/// let sum = partial.sums[0] * partial.references[0].exp2();
/// assert!((sum - 4.0).abs() < 1e-6); // exp(0) + exp(ln 3)
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug)]
pub struct PartialAttention {
    attention: GroupedAttention,
}

impl PartialAttention {
    /// Heads of these sizes, for the widest instructions of this processor.
    ///
    /// # Errors
    /// None for heads that exist.
    pub fn new(heads: GroupedHeads) -> Result<Self> {
        let attention = GroupedAttention::new(heads, Scoring::default())?;
        Ok(Self { attention })
    }

    /// All queries on the keys of a cache.
    ///
    /// # Shapes
    /// `q` is `[n_q, n_heads · d_k]`, not scaled; the mask is for these queries and the keys
    /// of the cache.
    ///
    /// # Errors
    /// [`Error::Shape`](attention::Error::Shape);
    /// [`Error::EmptySequence`](attention::Error::EmptySequence) for an empty cache; what
    /// [`Mask::check`] finds.
    pub fn attend(
        &mut self,
        q: &Matrix<f32>,
        cache: &PackedCache,
        mask: &Mask,
    ) -> Result<Partial> {
        let heads = cache.heads();
        let (n_q, n_heads) = (q.nrows(), heads.n_heads());
        let mut out = Matrix::zeros(n_q, n_heads * heads.d_v());
        self.attention.check(q, &[cache], &out)?;
        mask.check(n_heads, n_q, cache.n_tokens())?;
        let mut references = Matrix::from_element(n_q, n_heads, f32::NEG_INFINITY);
        let mut sums = Matrix::zeros(n_q, n_heads);
        if n_q > 0 {
            self.attention.in_tiles(q, cache, mask, &mut out)?;
        }
        let n_places = n_groups(n_q) * n_heads;
        let all = self.attention.tiles.normalisers.get(n_places * Normalisers::LEN);
        for place in 0..n_places {
            let (group, head) = (place / n_heads, place % n_heads);
            let Normalisers { references: given, factors } = Normalisers::of(all, place);
            for (row, lane) in rows_of(group, n_q).zip(0..ROWS) {
                // A factor of 0 is that of a query which saw nothing, or of an infinite sum.
                if factors[lane] != 0.0 {
                    references[(row, head)] = given[lane];
                    sums[(row, head)] = 1.0 / factors[lane];
                }
            }
        }
        Ok(Partial { out, references, sums })
    }
}

#[cfg(test)]
mod tests {
    use attention::{Rng, SeedableRng, attend_heads, max_abs_diff, random_matrix};

    use super::*;

    /// One number from two, as the type's documentation says.
    fn merged(parts: &[Partial; 2], row: usize, head: usize, column: usize) -> f64 {
        let at = |matrix: &Matrix<f32>| f64::from(matrix[(row, head)]);
        let largest =
            parts.iter().map(|part| at(&part.references)).fold(f64::MIN, f64::max);
        let weigh =
            |part: &Partial| at(&part.sums) * (at(&part.references) - largest).exp2();
        let out = |part: &Partial| f64::from(part.out[(row, column)]);
        let all: f64 = parts.iter().map(weigh).sum();
        parts.iter().map(|part| weigh(part) * out(part)).sum::<f64>() / all
    }

    #[test]
    fn two_parts_of_the_keys_make_the_whole() {
        let rng = &mut Rng::seed_from_u64(3);
        let heads = GroupedHeads::new([3, 3], [5, 7]).unwrap();
        for (n_q, n_kv, first) in [(1, 2, 1), (50, 200, 1), (7, 100, 49), (97, 300, 250)]
        {
            // Scores of tens: references differ from 0.
            let q: Matrix<f32> = random_matrix(n_q, 3 * 5, 8.0, rng);
            let k: Matrix<f32> = random_matrix(n_kv, 3 * 5, 4.0, rng);
            let v: Matrix<f32> = random_matrix(n_kv, 3 * 7, 1.0, rng);
            let mut attention = PartialAttention::new(heads).unwrap();
            let parts = [0..first, first..n_kv].map(|keys| {
                let mut cache = PackedCache::new(heads);
                let rows = |m: &Matrix<f32>| m.rows(keys.start, keys.len()).into_owned();
                cache.append(&rows(&k), &rows(&v)).unwrap();
                attention.attend(&q, &cache, &Mask::None).unwrap()
            });
            let [q, k, v] = [q, k, v].map(|m| m.map(f64::from));
            let views = (q.as_view(), k.as_view(), v.as_view());
            let whole = attend_heads(views.0, views.1, views.2, 3, None, &Mask::None);
            let of = |row, column| merged(&parts, row, column / 7, column);
            let out = Matrix::from_fn(n_q, 3 * 7, of);
            let diff = max_abs_diff(&whole.unwrap().out, &out).unwrap();
            assert!(diff < 1e-4, "{n_q} queries, {n_kv} keys: {diff:e}");
        }
    }

    #[test]
    fn a_query_that_sees_none_of_these_keys_has_no_sum() {
        let heads = GroupedHeads::new([2, 2], [4, 4]).unwrap();
        let rows: Matrix<f32> = random_matrix(60, 8, 1.0, &mut Rng::seed_from_u64(1));
        let mut cache = PackedCache::new(heads);
        cache.append(&rows, &rows).unwrap();
        let mut attention = PartialAttention::new(heads).unwrap();
        let hidden = attention.attend(&rows, &cache, &Mask::FirstKeys(0)).unwrap();
        assert!(hidden.references.iter().all(|&m| m == f32::NEG_INFINITY));
        assert!(hidden.sums.iter().chain(&hidden.out).all(|&x| x == 0.0));
        let causal = attention.attend(&rows, &cache, &Mask::CausalTopLeft).unwrap();
        assert!((causal.out.row(0) - rows.row(0)).amax() < 1e-6);
    }
}
