//! Where a head of a decoder looks, in three shares.

use attention::{Matrix, Real};

/// Mean shares of one head's map on a text.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Patterns {
    /// What a token gives to the first of the text.
    pub first: f64,
    /// What a token gives to the one before it.
    pub previous: f64,
    /// What a token that has occurred before gives to the tokens that came **after** its
    /// earlier occurrences: where the text repeats itself, one of them comes next.
    pub copying: f64,
}

impl Patterns {
    /// Of a causal map and the text it is of. The means of `first` and `previous` are over
    /// all tokens from the third on, that of `copying` over all whose token has occurred
    /// before; 0 where there is none.
    ///
    /// # Shapes
    /// `map` is `[n, n]`, `ids` has n entries; what is beyond the shorter is not asked.
    ///
    /// # Source
    /// Olsson et al. 2022, "In-context Learning and Induction Heads" (`copying` is their
    /// prefix-matching score).
    // ANCHOR: patterns
    pub fn of<T: Real>(map: &Matrix<T>, ids: &[usize]) -> Self {
        let share = |i: usize, j: usize| map[(i, j)].to_f64();
        let n = ids.len().min(map.nrows()).min(map.ncols());
        let copied = |i: usize| {
            let same = (0..i).filter(|&j| ids[j] == ids[i]);
            same.map(|j| share(i, j + 1)).reduce(|sum, share| sum + share)
        };
        Self {
            first: mean((2..n).map(|i| share(i, 0))),
            previous: mean((2..n).map(|i| share(i, i - 1))),
            copying: mean((0..n).filter_map(copied)),
        }
    }
    // ANCHOR_END: patterns

    /// The mean of several texts.
    pub fn mean(all: &[Self]) -> Self {
        Self {
            first: mean(all.iter().map(|it| it.first)),
            previous: mean(all.iter().map(|it| it.previous)),
            copying: mean(all.iter().map(|it| it.copying)),
        }
    }
}

fn mean(shares: impl Iterator<Item = f64>) -> f64 {
    let (n, sum) = shares.fold((0, 0.0), |(n, sum), share| (n + 1, sum + share));
    if n == 0 { 0.0 } else { sum / f64::from(n) }
}

#[cfg(test)]
mod tests {
    use attention::{Rng, SeedableRng};
    use rand::RngExt;

    use super::*;
    use crate::decoders::study::repeated;

    /// Each query gives all to one key.
    fn looking(at: [usize; 6]) -> Matrix {
        Matrix::from_fn(6, 6, |i, j| f64::from(u8::from(at[i] == j)))
    }

    #[test]
    fn each_pattern_is_seen_and_no_other() {
        let ids = [5, 6, 7, 5, 6, 7];
        let of = |at| Patterns::of(&looking(at), &ids);
        // After the earlier 5, 6 and 7 came 6, 7 and 5.
        let copying = of([0, 0, 2, 1, 2, 3]);
        assert_eq!(copying, Patterns { first: 0.0, previous: 0.0, copying: 1.0 });
        let previous = of([0, 0, 1, 2, 3, 4]);
        assert_eq!(previous, Patterns { first: 0.0, previous: 1.0, copying: 0.0 });
        let first = of([0; 6]);
        assert_eq!(first, Patterns { first: 1.0, previous: 0.0, copying: 0.0 });
        // The same token itself is not what came after it.
        assert_eq!(of([0, 1, 2, 0, 1, 2]).copying, 0.0);
    }

    #[test]
    fn all_earlier_occurrences_count() {
        let ids = [5, 6, 5, 7, 5, 8];
        let map = Matrix::from_fn(6, 6, |i, j| {
            [0.0, 0.25, 0.0, 0.5][j.min(3)] * f64::from(i == 4)
        });
        // Query 4 gives 6 a quarter and 7 a half; query 2 gives nothing.
        assert_eq!(Patterns::of(&map, &ids).copying, 0.375);
        assert_eq!(Patterns::of(&map, &[1, 2, 3]).copying, 0.0);
        assert_eq!(Patterns::mean(&[]), Patterns::default());
    }

    /// Uneven noise: some keys of every row have a hundred times the share of others.
    #[test]
    fn noise_has_no_pattern_however_uneven_it_is() {
        let ids = repeated(0, 1000);
        for seed in 0..50 {
            let rng = &mut Rng::seed_from_u64(seed);
            let mut noise = Matrix::from_fn(ids.len(), ids.len(), |i, j| {
                if j > i { 0.0 } else { rng.random_range(-5.0..0.0_f64).exp() }
            });
            noise.row_iter_mut().for_each(|mut row| row /= row.sum());
            let found = Patterns::of(&noise, &ids);
            let most = found.first.max(found.previous).max(found.copying);
            assert!(most < 0.1, "seed {seed}: {found:?}");
        }
    }
}
