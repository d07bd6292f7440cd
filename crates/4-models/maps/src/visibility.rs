//! Which keys a query sees, and where both stand.

use crate::Kind;

/// What is to be known of a text to read a map of it: which tokens are part of it, and which
/// of them a query sees.
///
/// # Shapes
/// Maps are `[n_q, n_kv]`: `asking` has n_q entries, `is_special` n_kv.
#[derive(Debug, Clone, Copy)]
pub struct Sight<'a> {
    /// Of the queries, which are no part of the text.
    pub asking: &'a [bool],
    /// Of the keys, the same.
    pub is_special: &'a [bool],
    /// Whether a query sees only the keys before it, and its own.
    pub is_causal: bool,
    /// Where the queries stand.
    pub place: Place<'a>,
}

/// Where queries stand among the keys.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// Query i is key i.
    Own,
    /// Query i is the key of this number: some tokens of a text ask, and all are asked.
    Chosen(&'a [usize]),
    /// In another text.
    Elsewhere,
}

impl<'a> Sight<'a> {
    /// Of a text in which every token reads every other.
    pub fn both_ways(is_special: &'a [bool]) -> Self {
        Self { asking: is_special, is_special, is_causal: false, place: Place::Own }
    }

    /// Of a text in which a token reads those before it, and itself.
    pub fn causal(is_special: &'a [bool]) -> Self {
        Self { is_causal: true, ..Self::both_ways(is_special) }
    }

    /// Of one text that reads another.
    pub fn between(asking: &'a [bool], is_special: &'a [bool]) -> Self {
        Self { asking, is_special, is_causal: false, place: Place::Elsewhere }
    }

    /// Which key a query is; `None` in another text.
    pub fn place(&self, query: usize) -> Option<usize> {
        match self.place {
            Place::Own => Some(query),
            Place::Chosen(places) => places.get(query).copied(),
            Place::Elsewhere => None,
        }
    }

    /// Whether a query sees a key.
    pub fn sees(&self, query: usize, key: usize) -> bool {
        key < self.n_seen(query)
    }

    /// Whether a query sees a key that it is not itself: in another text, whether it sees it.
    pub fn sees_another(&self, query: usize, key: usize) -> bool {
        self.sees(query, key) && self.place(query) != Some(key)
    }

    /// How many keys a query sees: the first ones.
    pub fn n_seen(&self, query: usize) -> usize {
        let n = self.is_special.len();
        match self.place(query) {
            Some(place) if self.is_causal => n.min(place.saturating_add(1)),
            _ => n,
        }
    }

    /// How many tokens away a key is: 0 in another text, where places have none.
    pub fn distance(&self, query: usize, key: usize) -> usize {
        self.place(query).map_or(0, |place| place.abs_diff(key))
    }

    /// What a key is to a query. A key of which nothing is said is of the text.
    pub fn kind(&self, query: usize, key: usize) -> Kind {
        match (self.is_special.get(key), self.place(query)) {
            (Some(true), _) if key == 0 => Kind::First,
            (Some(true), _) => Kind::Last,
            (_, Some(place)) if key == place => Kind::Same,
            (_, Some(place)) if place.checked_sub(1) == Some(key) => Kind::Previous,
            (_, Some(place)) if place.checked_add(1) == Some(key) => Kind::Next,
            _ => Kind::Other,
        }
    }

    /// The queries that are part of the text.
    pub fn words(&self) -> Vec<usize> {
        (0..self.asking.len()).filter(|&query| !self.asking[query]).collect()
    }
}
