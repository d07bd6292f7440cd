//! What a head does, in a few numbers, each with what it would be by chance.

use attention::{Matrix, Real};

/// What a key is to a query. Each key is of one kind, the first that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The special token at the start: `[CLS]`, `<s>`.
    First,
    /// A special token elsewhere: `[SEP]`, `</s>`.
    Last,
    /// The query itself.
    Same,
    /// The token before.
    Previous,
    /// The token after.
    Next,
    /// Any other token.
    Other,
}

impl Kind {
    /// All kinds, in the order of [`Glance::shares`].
    pub const ALL: [Self; 6] =
        [Self::First, Self::Last, Self::Same, Self::Previous, Self::Next, Self::Other];

    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Last => "last",
            Self::Same => "same",
            Self::Previous => "previous",
            Self::Next => "next",
            Self::Other => "other",
        }
    }

    /// The kind of a key.
    ///
    /// `is_special` says which tokens are no part of the text; a key beyond it is of the
    /// text.
    pub fn of(query: usize, key: usize, is_special: &[bool]) -> Self {
        match is_special.get(key) {
            Some(true) if key == 0 => Self::First,
            Some(true) => Self::Last,
            _ if key == query => Self::Same,
            _ if key + 1 == query => Self::Previous,
            _ if key == query + 1 => Self::Next,
            _ => Self::Other,
        }
    }

    /// The kind of a key in another text than the query's: it is not near it.
    pub fn between(key: usize, is_special: &[bool]) -> Self {
        match is_special.get(key) {
            Some(true) if key == 0 => Self::First,
            Some(true) => Self::Last,
            _ => Self::Other,
        }
    }
}

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
    /// Of a map, or `None` if the text has no token.
    ///
    /// # Shapes
    /// `map` is `[n, n]`, and `is_special` has n entries.
    pub fn of<T: Real>(map: &Matrix<T>, is_special: &[bool]) -> Option<Self> {
        let kind = |query, key| Kind::of(query, key, is_special);
        let distance = |query: usize, key| query.abs_diff(key) as f64;
        Self::mean(map, &words(is_special, map.nrows()), kind, distance)
    }

    /// Of a map between two texts, where every key is the first, a special one or another, and
    /// the distance is 0: places in two texts have none.
    ///
    /// # Shapes
    /// `map` is `[n_q, n_kv]`; `asking` says of the n_q tokens of one text which are special,
    /// `is_special` of the n_kv of the other.
    pub fn between<T: Real>(
        map: &Matrix<T>,
        asking: &[bool],
        is_special: &[bool],
    ) -> Option<Self> {
        let kind = |_, key| Kind::between(key, is_special);
        Self::mean(map, &words(asking, map.nrows()), kind, |_, _| 0.0)
    }

    fn mean<T: Real>(
        map: &Matrix<T>,
        queries: &[usize],
        kind: impl Fn(usize, usize) -> Kind,
        distance: impl Fn(usize, usize) -> f64,
    ) -> Option<Self> {
        let mut sum = Self { entropy: 0.0, distance: 0.0, shares: [0.0; 6] };
        for &query in queries {
            for key in 0..map.ncols() {
                let share = map[(query, key)].to_f64();
                if share > 0.0 {
                    sum.entropy -= share * share.log2();
                }
                sum.distance += share * distance(query, key);
                sum.shares[kind(query, key) as usize] += share;
            }
        }
        (!queries.is_empty()).then(|| sum.scaled(1.0 / queries.len() as f64))
    }

    /// The control: of a head that gives every key 1/n.
    pub fn uniform(is_special: &[bool]) -> Option<Self> {
        let n = is_special.len();
        Self::of(&Matrix::from_element(n, n, 1.0 / n as f64), is_special)
    }

    /// The control for a decoder: of a head that gives every key up to the query's own the
    /// same.
    pub fn uniform_causal(is_special: &[bool]) -> Option<Self> {
        let n = is_special.len();
        let share = |query, key| if key > query { 0.0 } else { 1.0 / (query + 1) as f64 };
        Self::of(&Matrix::from_fn(n, n, share), is_special)
    }

    /// The control between two texts: of a head that gives every one of the n_kv keys the same.
    pub fn uniform_between(asking: &[bool], is_special: &[bool]) -> Option<Self> {
        let (n_q, n_kv) = (asking.len(), is_special.len());
        let even = Matrix::from_element(n_q, n_kv, 1.0 / n_kv as f64);
        Self::between(&even, asking, is_special)
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

/// A share from one token of the text to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Which token asks.
    pub query: usize,
    /// Which it attends to.
    pub key: usize,
    /// Its share.
    pub share: f64,
    /// The control: the same key's share, averaged over the other tokens of the text. A key
    /// that all attend to alike is no link of this query.
    pub others: f64,
}

/// The strongest links of a head between different tokens of the text, the strongest
/// first; special tokens are neither queries nor keys.
///
/// # Shapes
/// `map` is `[n, n]`, and `is_special` has n entries.
pub fn links<T: Real>(map: &Matrix<T>, is_special: &[bool], most: usize) -> Vec<Link> {
    let words = words(is_special, map.nrows().min(map.ncols()));
    links_of(map, [&words, &words], most, |query, key| (query != key, true))
}

/// The same in a decoder, where the control is the average over the tokens that see the key:
/// its own, and those behind it.
///
/// # Shapes
/// As [`links`].
pub fn causal_links<T: Real>(
    map: &Matrix<T>,
    is_special: &[bool],
    most: usize,
) -> Vec<Link> {
    let words = words(is_special, map.nrows().min(map.ncols()));
    links_of(map, [&words, &words], most, |query, key| (query != key, key <= query))
}

/// The same from one text to another.
///
/// # Shapes
/// `map` is `[n_q, n_kv]`; `asking` says of the n_q tokens of one text which are special,
/// `is_special` of the n_kv of the other.
pub fn links_between<T: Real>(
    map: &Matrix<T>,
    asking: &[bool],
    is_special: &[bool],
    most: usize,
) -> Vec<Link> {
    let [queries, keys] = [words(asking, map.nrows()), words(is_special, map.ncols())];
    links_of(map, [&queries, &keys], most, |_, _| (true, true))
}

/// The links of these queries to these keys; `is` says of a query and a key whether it is a
/// link, and whether the query sees the key.
fn links_of<T: Real>(
    map: &Matrix<T>,
    [queries, keys]: [&[usize]; 2],
    most: usize,
    is: impl Fn(usize, usize) -> (bool, bool),
) -> Vec<Link> {
    let share = |query: usize, key: usize| map[(query, key)].to_f64();
    let mut links = Vec::new();
    for &key in keys {
        let seeing = queries.iter().copied().filter(|&query| is(query, key).1);
        let seeing: Vec<usize> = seeing.collect();
        let all: f64 = seeing.iter().map(|&query| share(query, key)).sum();
        for &query in seeing.iter().filter(|&&query| is(query, key).0) {
            let share = share(query, key);
            let others = (all - share) / (seeing.len() - 1).max(1) as f64;
            links.push(Link { query, key, share, others });
        }
    }
    links.sort_by(|a, b| b.share.total_cmp(&a.share));
    links.truncate(most);
    links
}

/// The tokens that are part of the text.
fn words(is_special: &[bool], n: usize) -> Vec<usize> {
    (0..n).filter(|&i| is_special.get(i) != Some(&true)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECIAL: [bool; 5] = [true, false, false, false, true];

    #[test]
    fn a_head_that_looks_back_is_seen_to() {
        let back = Matrix::from_fn(5, 5, |i, j| f64::from(u8::from(j + 1 == i)));
        let glance = Glance::of(&back, &SPECIAL).unwrap();
        // The first token of the text has only [CLS] before it.
        let uniform = Glance::uniform(&SPECIAL).unwrap();
        assert_eq!(glance.preferred(&uniform), Some(Kind::Previous));
        assert_eq!(uniform.preferred(&uniform), None);
        assert_eq!(glance.preference(&uniform), "previous");
        assert_eq!(uniform.preference(&uniform), "spread");
        assert!((glance.share(Kind::Previous) - 2.0 / 3.0).abs() < 1e-12);
        assert!((glance.share(Kind::First) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!((glance.entropy, glance.distance), (0.0, 1.0));
        let found = links(&back, &SPECIAL, 9);
        assert_eq!(found[0], Link { query: 2, key: 1, share: 1.0, others: 0.0 });
        assert_eq!(found.len(), 6);
    }

    #[test]
    fn by_chance_every_key_has_its_part() {
        let uniform = Glance::uniform(&SPECIAL).unwrap();
        assert!((uniform.entropy - 5f64.log2()).abs() < 1e-12);
        assert!((uniform.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((uniform.share(Kind::Same) - 0.2).abs() < 1e-12);
        let flat = Matrix::from_element(5, 5, 0.2);
        assert!(
            links(&flat, &SPECIAL, 9)
                .iter()
                .all(|link| (link.others - 0.2).abs() < 1e-12)
        );
        assert_eq!(Glance::uniform(&[true, true]), None);
        // Queries 1 to 3 see 2, 3 and 4 keys.
        let causal = Glance::uniform_causal(&SPECIAL).unwrap();
        let expected = (1.0 / 2.0 + 1.0 / 3.0 + 1.0 / 4.0) / 3.0;
        assert!((causal.share(Kind::Same) - expected).abs() < 1e-12);
        assert!((causal.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(links(&flat, &[true, true, false, true, true], 3).is_empty());
    }

    /// Two queries, three keys: a planted link is found, the diagonal means nothing, and a
    /// head that looks at the first key is seen to.
    #[test]
    fn between_two_texts_the_diagonal_means_nothing() {
        let [asking, special] = [vec![false; 2], vec![true, false, false]];
        let map = Matrix::from_row_slice(2, 3, &[0.25, 0.625, 0.125, 0.75, 0.25, 0.0]);
        let glance = Glance::between(&map, &asking, &special).unwrap();
        assert!((glance.share(Kind::First) - 0.5).abs() < 1e-12);
        assert!((glance.share(Kind::Other) - 0.5).abs() < 1e-12);
        assert_eq!(glance.distance, 0.0);
        let even = Glance::uniform_between(&asking, &special).unwrap();
        assert!((even.share(Kind::First) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(glance.preferred(&even), Some(Kind::First));
        let found = links_between(&map, &asking, &special, 9);
        assert_eq!(found[0], Link { query: 0, key: 1, share: 0.625, others: 0.25 });
        assert_eq!(found.len(), 4);
        assert_eq!(Glance::between(&map, &[true, true], &special), None);
    }

    /// Maps of noise, even or sharp, prefer no kind of key over forty texts; three
    /// tenths of their weights moved to the token before are a preference, a little is none.
    #[test]
    fn noise_prefers_nothing_and_a_planted_habit_is_seen() {
        use attention::{Rng, SeedableRng, random_matrix, softmax_rows};
        let rng = &mut Rng::seed_from_u64(1);
        let is_special: Vec<bool> = (0..12).map(|i| i == 0 || i == 11).collect();
        let uniform = Glance::uniform(&is_special).unwrap();
        let nothing = Glance { entropy: 0.0, distance: 0.0, shares: [0.0; 6] };
        let mut preferred = |spread: f64, moved: f64| {
            let mut sum = nothing;
            for _ in 0..40 {
                let map: Matrix = softmax_rows(random_matrix(12, 12, spread, rng));
                let map = Matrix::from_fn(12, 12, |i, j| {
                    let is_before = f64::from(u8::from(j + 1 == i));
                    (1.0 - moved) * map[(i, j)] + moved * is_before
                });
                sum = sum.plus(&Glance::of(&map, &is_special).unwrap());
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
        let found = causal_links(&half, &[true, false, false, false], 9);
        assert_eq!(found.len(), 3);
        assert_eq!(found[0], Link { query: 2, key: 1, share: 0.5, others: 0.5 });
    }
}
