//! The softmax of rows whose scores arrive one block of keys after another.

use crate::{Matrix, View};

/// The weighted average of the values seen so far, for a block of queries.
///
/// The softmax of a row needs the row's maximum m, and the last block of keys may hold
/// it. So each row keeps three things that are right for the keys seen so far, and
/// corrects them when a larger score arrives:
///
/// ```text
/// m' = max(m, max_j s_j)
/// c  = exp(m − m')                                the correction, 1 if m was larger
/// l' = c · l + Σ_j exp(s_j − m')
/// o' = c · o + Σ_j exp(s_j − m') · v_j
/// ```
///
/// The correction is exact: `exp(s − m) · exp(m − m') = exp(s − m')`, so after the last
/// block each number is what it would have been with m' from the start. The average is
/// `o / l`; no row of shares was ever whole.
///
/// # Source
/// Milakov and Gimelshein 2018, "Online normalizer calculation for softmax"; Dao et al.
/// 2022, "FlashAttention", algorithm 1.
#[derive(Debug, Clone, PartialEq)]
pub struct OnlineSoftmax {
    /// m, the largest score of each query so far; −∞ at first. `[n_queries]`
    pub maximum: Vec<f32>,
    /// l, the sum of `exp(s_j − m)` so far. `[n_queries]`
    pub sum: Vec<f32>,
    /// o, the sum of `exp(s_j − m) · v_j` so far. `[n_queries, d_v]`
    pub out: Matrix<f32>,
}

impl OnlineSoftmax {
    /// Before any key is seen.
    ///
    /// # Shapes
    /// At least one query.
    pub fn new(n_queries: usize, d_v: usize) -> Self {
        Self {
            maximum: vec![f32::NEG_INFINITY; n_queries],
            sum: vec![0.0; n_queries],
            out: Matrix::zeros(n_queries, d_v),
        }
    }

    /// Takes in the next keys: their scores, and their values.
    ///
    /// `exp` replaces each number of a slice, none above 0, by its exponential.
    ///
    /// # Shapes
    /// `scores` is `[n_queries, n_keys]`, `v` is `[n_keys, d_v]`.
    // ANCHOR: take_in
    pub fn take_in(
        &mut self,
        mut scores: Matrix<f32>,
        v: View<'_, f32>,
        exp: impl Fn(&mut [f32]),
    ) {
        let n_queries = self.maximum.len();
        let mut correction = self.maximum.clone();
        for s_j in scores.as_slice().chunks_exact(n_queries) {
            for (m, &s_ij) in self.maximum.iter_mut().zip(s_j) {
                *m = if s_ij > *m { s_ij } else { *m };
            }
        }
        // Before the first unblocked key, m' is −∞, and −∞ − (−∞) would be NaN.
        let finite = |&m: &f32| if m == f32::NEG_INFINITY { 0.0 } else { m };
        let shift: Vec<f32> = self.maximum.iter().map(finite).collect();

        subtract(&mut correction, &shift);
        exp(&mut correction); // c = exp(m − m')
        for s_j in scores.as_mut_slice().chunks_exact_mut(n_queries) {
            subtract(s_j, &shift);
        }
        exp(scores.as_mut_slice()); // exp(s_j − m')

        multiply(&mut self.sum, &correction);
        for p_j in scores.as_slice().chunks_exact(n_queries) {
            self.sum.iter_mut().zip(p_j).for_each(|(l, p_ij)| *l += p_ij);
        }
        for o_c in self.out.as_mut_slice().chunks_exact_mut(n_queries) {
            multiply(o_c, &correction);
        }
        self.out.gemm(1.0, &scores, &v, 1.0);
    }
    // ANCHOR_END: take_in

    /// `o / l`, `[n_queries, d_v]`; zeros for a query that may attend to nothing.
    pub fn finish(mut self) -> Matrix<f32> {
        for l in self.sum.iter_mut().filter(|l| **l == 0.0) {
            *l = 1.0;
        }
        for o_c in self.out.as_mut_slice().chunks_exact_mut(self.sum.len()) {
            o_c.iter_mut().zip(&self.sum).for_each(|(o, l)| *o /= l);
        }
        self.out
    }
}

fn subtract(numbers: &mut [f32], others: &[f32]) {
    numbers.iter_mut().zip(others).for_each(|(x, y)| *x -= y);
}

fn multiply(numbers: &mut [f32], others: &[f32]) {
    numbers.iter_mut().zip(others).for_each(|(x, y)| *x *= y);
}

#[cfg(test)]
mod tests {
    use crate::{
        Rng, SeedableRng, max_abs_diff, random_matrix, softmax_rows, weighted_values,
    };

    use super::*;

    fn exp(numbers: &mut [f32]) {
        numbers.iter_mut().for_each(|x| *x = x.exp());
    }

    #[test]
    fn small_numbers_step_by_step() {
        // Miri adds errors of its own to ln and exp.
        let bound = if cfg!(miri) { 1e-4 } else { 1e-5 };
        let mut online = OnlineSoftmax::new(1, 1);
        let [one, two, four] = [1f32, 2.0, 4.0].map(f32::ln);
        let mut check = |scores: [f32; 2], values: [f32; 2], expected: [f32; 3]| {
            let scores = Matrix::from_row_slice(1, 2, &scores);
            let v = Matrix::from_row_slice(2, 1, &values);
            online.take_in(scores, v.as_view(), exp);
            let seen = [online.maximum[0], online.sum[0], online.out[0]];
            for (seen, expected) in seen.into_iter().zip(expected) {
                assert!((seen - expected).abs() < bound, "{seen} and not {expected}");
            }
            online.clone().finish()[0]
        };
        let average = check([one, two], [10.0, 20.0], [two, 1.5, 25.0]);
        assert!((average - 50.0 / 3.0).abs() < bound, "{average}");
        // The new maximum is twice the old one: what was seen counts half.
        let average = check([four, one], [40.0, 8.0], [four, 2.0, 54.5]);
        assert!((average - 27.25).abs() < bound, "{average}");
    }

    #[test]
    fn blocks_of_any_size_give_the_softmax_of_the_whole() {
        let rng = &mut Rng::seed_from_u64(5);
        let mut scores: Matrix<f32> = random_matrix(3, 40, 30.0, rng);
        let v = random_matrix(40, 4, 1.0, rng);
        scores.row_mut(1).columns_mut(0, 25).fill(f32::NEG_INFINITY);
        scores.row_mut(2).fill(f32::NEG_INFINITY);
        let expected = weighted_values(&softmax_rows(scores.clone()), v.as_view());
        for n_keys in [1, 2, 7, 16, 39, 40] {
            let mut online = OnlineSoftmax::new(3, 4);
            for first in (0..40).step_by(n_keys) {
                let n = n_keys.min(40 - first);
                let block = scores.columns(first, n).into_owned();
                online.take_in(block, v.rows(first, n), exp);
            }
            let diff = max_abs_diff(&expected, &online.finish()).unwrap();
            assert!(diff < 1e-6, "{n_keys} keys at a time: {diff:e}");
        }
    }

    #[test]
    fn a_score_that_is_not_a_number_makes_its_row_nan() {
        for broken in [f32::NAN, f32::INFINITY] {
            for place in [0, 1, 2] {
                let mut online = OnlineSoftmax::new(2, 1);
                for j in 0..3 {
                    let s = if j == place { broken } else { 1.0 };
                    let scores = Matrix::from_row_slice(2, 1, &[1.0, s]);
                    online.take_in(
                        scores,
                        Matrix::from_element(1, 1, 7.0).as_view(),
                        exp,
                    );
                }
                let out = online.finish();
                assert!(out[0] == 7.0 && out[1].is_nan(), "{broken} at {place}: {out}");
            }
        }
    }
}
