//! What a head does, in a few numbers, each with what it would be by chance.

use attention::{Matrix, Real};

use crate::{Kind, Sight};

/// How far a share must be above chance to be a preference.
const PREFERENCE: f64 = 0.1;

/// What a head does with the tokens of a text, on average over them as queries: those that
/// the tokenizer put there do not ask.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Glance {
    /// Of a query's shares, in bits: 0 for one key alone, log₂ n for all n alike.
    pub entropy: f64,
    /// How many tokens away the share goes.
    pub distance: f64,
    /// The share of each kind of key, in the order of [`Kind::ALL`]; they sum to 1.
    pub shares: [f64; 6],
}

impl Glance {
    /// Of a map, or `None` if the text has no token that asks.
    ///
    /// # Shapes
    /// `map` is `[n_q, n_kv]`, as `sight` has them.
    pub fn of<T: Real>(map: &Matrix<T>, sight: &Sight<'_>) -> Option<Self> {
        Self::mean(sight, map.ncols(), |query, key| map[(query, key)].to_f64())
    }

    /// The control: of a head that gives every key that a query sees the same.
    pub fn uniform(sight: &Sight<'_>) -> Option<Self> {
        let share = |query, key| match sight.sees(query, key) {
            true => 1.0 / sight.n_seen(query) as f64,
            false => 0.0,
        };
        Self::mean(sight, sight.is_special.len(), share)
    }

    fn mean(
        sight: &Sight<'_>,
        n_keys: usize,
        share: impl Fn(usize, usize) -> f64,
    ) -> Option<Self> {
        let mut sum = Self { entropy: 0.0, distance: 0.0, shares: [0.0; 6] };
        let words = sight.words();
        for &query in &words {
            for key in 0..n_keys {
                let share = share(query, key);
                if share > 0.0 {
                    sum.entropy -= share * share.log2();
                }
                sum.distance += share * sight.distance(query, key) as f64;
                sum.shares[sight.kind(query, key) as usize] += share;
            }
        }
        (!words.is_empty()).then(|| sum.scaled(1.0 / words.len() as f64))
    }

    /// The kind of key that the head prefers: the one whose share is farthest above
    /// chance, if that is by more than a tenth. `uniform` is what [`Self::uniform`] gives.
    pub fn preferred(&self, uniform: &Self) -> Option<Kind> {
        let above = |kind: Kind| self.share(kind) - uniform.share(kind);
        let larger = |a: Kind, b| if above(b) > above(a) { b } else { a };
        let kind = Kind::ALL.into_iter().fold(Kind::First, larger);
        (above(kind) > PREFERENCE).then_some(kind)
    }

    /// A word for what the head prefers: `spread` where that is nothing.
    pub fn preference(&self, uniform: &Self) -> &'static str {
        self.preferred(uniform).map_or("spread", Kind::name)
    }

    /// The share of a kind of key.
    pub fn share(&self, of: Kind) -> f64 {
        self.shares[of as usize]
    }

    /// All numbers times a factor.
    pub fn scaled(mut self, factor: f64) -> Self {
        self.entropy *= factor;
        self.distance *= factor;
        self.shares = self.shares.map(|share| share * factor);
        self
    }

    /// Number by number.
    pub fn plus(mut self, other: &Self) -> Self {
        self.entropy += other.entropy;
        self.distance += other.distance;
        for (share, other) in self.shares.iter_mut().zip(other.shares) {
            *share += other;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Link, Place, links};

    const SPECIAL: [bool; 5] = [true, false, false, false, true];

    #[test]
    fn a_head_that_looks_back_is_seen_to() {
        let sight = Sight::both_ways(&SPECIAL);
        let back = Matrix::from_fn(5, 5, |i, j| f64::from(u8::from(j + 1 == i)));
        let glance = Glance::of(&back, &sight).unwrap();
        // The first token of the text has only [CLS] before it.
        let uniform = Glance::uniform(&Sight::both_ways(&SPECIAL)).unwrap();
        assert_eq!(glance.preferred(&uniform), Some(Kind::Previous));
        assert_eq!(uniform.preferred(&uniform), None);
        assert_eq!(glance.preference(&uniform), "previous");
        assert_eq!(uniform.preference(&uniform), "spread");
        assert!((glance.share(Kind::Previous) - 2.0 / 3.0).abs() < 1e-12);
        assert!((glance.share(Kind::First) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!((glance.entropy, glance.distance), (0.0, 1.0));
        let found = links(&back, &sight, 9);
        assert_eq!(found[0], Link { query: 2, key: 1, share: 1.0, others: 0.0 });
        assert_eq!(found.len(), 6);
    }

    #[test]
    fn by_chance_every_key_has_its_part() {
        let uniform = Glance::uniform(&Sight::both_ways(&SPECIAL)).unwrap();
        assert!((uniform.entropy - 5f64.log2()).abs() < 1e-12);
        assert!((uniform.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((uniform.share(Kind::Same) - 0.2).abs() < 1e-12);
        let flat = Matrix::from_element(5, 5, 0.2);
        assert!(
            links(&flat, &Sight::both_ways(&SPECIAL), 9)
                .iter()
                .all(|link| (link.others - 0.2).abs() < 1e-12)
        );
        assert_eq!(Glance::uniform(&Sight::both_ways(&[true, true])), None);
        // Queries 1 to 3 see 2, 3 and 4 keys.
        let causal = Glance::uniform(&Sight::causal(&SPECIAL)).unwrap();
        let expected = (1.0 / 2.0 + 1.0 / 3.0 + 1.0 / 4.0) / 3.0;
        assert!((causal.share(Kind::Same) - expected).abs() < 1e-12);
        assert!((causal.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(
            links(&flat, &Sight::both_ways(&[true, true, false, true, true]), 3)
                .is_empty()
        );
    }

    /// Two queries, three keys: a planted link is found, the diagonal means nothing, and a
    /// head that looks at the first key is seen to.
    #[test]
    fn between_two_texts_the_diagonal_means_nothing() {
        let sight = Sight::between(&[false; 2], &[true, false, false]);
        let map = Matrix::from_row_slice(2, 3, &[0.25, 0.625, 0.125, 0.75, 0.25, 0.0]);
        let glance = Glance::of(&map, &sight).unwrap();
        assert!((glance.share(Kind::First) - 0.5).abs() < 1e-12);
        assert!((glance.share(Kind::Other) - 0.5).abs() < 1e-12);
        assert_eq!(glance.distance, 0.0);
        let even = Glance::uniform(&sight).unwrap();
        assert!((even.share(Kind::First) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(glance.preferred(&even), Some(Kind::First));
        let found = links(&map, &sight, 9);
        assert_eq!(found[0], Link { query: 0, key: 1, share: 0.625, others: 0.25 });
        assert_eq!(found.len(), 4);
        assert_eq!(Glance::of(&map, &Sight { asking: &[true, true], ..sight }), None);
    }

    /// Maps of noise, even or sharp, prefer no kind of key over forty texts; three
    /// tenths of their weights moved to the token before are a preference, a little is none.
    #[test]
    fn noise_prefers_nothing_and_a_planted_habit_is_seen() {
        use attention::{Rng, SeedableRng, random_matrix, softmax_rows};
        let rng = &mut Rng::seed_from_u64(1);
        let is_special: Vec<bool> = (0..12).map(|i| i == 0 || i == 11).collect();
        let sight = Sight::both_ways(&is_special);
        let uniform = Glance::uniform(&sight).unwrap();
        let nothing = Glance { entropy: 0.0, distance: 0.0, shares: [0.0; 6] };
        let mut preferred = |spread: f64, moved: f64| {
            let mut sum = nothing;
            for _ in 0..40 {
                let map: Matrix = softmax_rows(random_matrix(12, 12, spread, rng));
                let map = Matrix::from_fn(12, 12, |i, j| {
                    let is_before = f64::from(u8::from(j + 1 == i));
                    (1.0 - moved) * map[(i, j)] + moved * is_before
                });
                sum = sum.plus(&Glance::of(&map, &sight).unwrap());
            }
            sum.scaled(1.0 / 40.0).preferred(&uniform)
        };
        for spread in [0.1, 1.0, 3.0] {
            assert_eq!(preferred(spread, 0.0), None, "{spread}");
            assert_eq!(preferred(spread, 0.06), None, "{spread}");
            assert_eq!(preferred(spread, 0.3), Some(Kind::Previous), "{spread}");
        }
    }

    #[test]
    fn the_control_of_a_decoder_asks_those_that_see_the_key() {
        let half = Matrix::from_fn(4, 4, |i, j| match j {
            1 if i >= 1 => 0.5,
            _ => 0.0,
        });
        let found = links(&half, &Sight::causal(&[true, false, false, false]), 9);
        assert_eq!(found.len(), 3);
        assert_eq!(found[0], Link { query: 2, key: 1, share: 0.5, others: 0.5 });
    }

    /// Two of five tokens ask: what they do is what those rows of the whole map say, and so
    /// are the even head and the links, whose others are the other one.
    #[test]
    fn chosen_rows_are_those_of_the_whole_map() {
        let rows = [[1.0, 0.0, 0.0, 0.0, 0.0], [0.2, 0.3, 0.4, 0.1, 0.0]];
        let map = Matrix::from_fn(2, 5, |i, j| rows[i][j]);
        let places = [2, 3];
        let special = [true, false, false, false, false];
        let whole = Sight::causal(&special);
        let sight = Sight { asking: &[false; 2], place: Place::Chosen(&places), ..whole };
        let found = Glance::of(&map, &sight).unwrap();
        let others = [0.6, 0.0, 0.05, 0.2, 0.0, 0.15];
        for (share, expected) in found.shares.iter().zip(others) {
            assert!((share - expected).abs() < 1e-12, "{found:?}");
        }
        let away = (2.0 + 0.2 * 3.0 + 0.3 * 2.0 + 0.4) / 2.0;
        assert!((found.distance - away).abs() < 1e-12);
        let even = Glance::uniform(&sight).unwrap();
        assert!((even.entropy - (3f64.log2() + 2.0) / 2.0).abs() < 1e-12);
        let found = links(&map, &sight, 1)[0];
        assert_eq!(found, Link { query: 1, key: 2, share: 0.4, others: 0.0 });
    }
}
