//! What the figures of heads are drawn from, checked once.

use attention::Matrix;

use crate::error::ROUNDING;
use crate::{Error, Result};

/// The most heads that one figure takes.
const MOST_HEADS: usize = 16;

/// The attention maps of one layer, with the tokens on their two sides.
#[derive(Debug, Clone)]
pub struct Heads<'a> {
    pub(crate) attn: &'a [Matrix],
    pub(crate) queries: Vec<String>,
    pub(crate) keys: Vec<String>,
    pub(crate) numbers: Vec<usize>,
    /// What the maps are called if they are not called by their heads.
    pub(crate) names: Option<Vec<String>>,
    /// Which of the maps is shown first, where only one is.
    pub(crate) shown: usize,
}

/// One entry of a map: query row, key column, share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// The row: which query looks.
    pub query: usize,
    /// The column: which key it looks at.
    pub key: usize,
    /// The share of its attention that the query gives to the key.
    pub share: f64,
}

/// The mean share that a key gets from every query but one and the key itself.
pub fn mean_of_others(attn: &Matrix, query: usize, key: usize) -> f64 {
    let others = (0..attn.nrows()).filter(|&row| row != query && row != key);
    let shares: Vec<f64> = others.map(|row| attn[(row, key)]).collect();
    shares.iter().sum::<f64>() / shares.len() as f64
}

impl<'a> Heads<'a> {
    /// Maps from query tokens to key tokens, head 0 first.
    ///
    /// # Shapes
    /// Each map is `[queries.len(), keys.len()]`.
    ///
    /// # Errors
    /// [`Error::Sizes`] if there are no heads or no tokens, or a map has another shape;
    /// [`Error::TooManyHeads`] above 16; [`Error::Entry`] for an entry outside 0 to 1.
    pub fn new<Q, K>(attn: &'a [Matrix], queries: &[Q], keys: &[K]) -> Result<Self>
    where
        Q: AsRef<str>,
        K: AsRef<str>,
    {
        attention::Error::expect_positive("the number of heads", attn.len())?;
        attention::Error::expect_positive("the number of query tokens", queries.len())?;
        attention::Error::expect_positive("the number of key tokens", keys.len())?;
        if attn.len() > MOST_HEADS {
            return Err(Error::TooManyHeads { n_heads: attn.len(), most: MOST_HEADS });
        }
        for (head, map) in attn.iter().enumerate() {
            let what = format!("the attention map of head {head}");
            attention::Error::expect_shape(
                what,
                (queries.len(), keys.len()),
                map.shape(),
            )?;
            check_entries(head, map)?;
        }
        Ok(Self {
            attn,
            queries: owned(queries),
            keys: owned(keys),
            numbers: (0..attn.len()).collect(),
            names: None,
            shown: 0,
        })
    }

    /// Maps of self-attention, where queries and keys are the same tokens.
    ///
    /// # Shapes
    /// Each map is `[tokens.len(), tokens.len()]`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_tokens<S: AsRef<str>>(attn: &'a [Matrix], tokens: &[S]) -> Result<Self> {
        Self::new(attn, tokens, tokens)
    }

    /// Calls the heads by other numbers than 0, 1, 2, …: for a few heads out of a layer.
    ///
    /// # Errors
    /// [`Error::Numbers`] unless there is one number a head.
    pub fn numbered(mut self, numbers: &[usize]) -> Result<Self> {
        let (n_numbers, n_heads) = (numbers.len(), self.attn.len());
        if n_numbers != n_heads {
            return Err(Error::Numbers { n_numbers, n_heads });
        }
        self.numbers = numbers.to_vec();
        Ok(self)
    }

    /// Calls the maps by names: for one head in several cases.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is one name a map.
    pub fn called(mut self, names: &[&str]) -> Result<Self> {
        Error::expect_length("the list of names", names.len(), self.attn.len())?;
        self.names = Some(owned(names));
        Ok(self)
    }

    /// Has [`head_view()`](crate::head_view()) show this head first.
    ///
    /// # Errors
    /// [`Error::NoSuchHead`] if no head here has that number.
    pub fn showing(mut self, number: usize) -> Result<Self> {
        let found = self.numbers.iter().position(|&it| it == number);
        self.shown = found
            .ok_or_else(|| Error::NoSuchHead { number, known: self.numbers.clone() })?;
        Ok(self)
    }

    /// The links of the `nth` map here, strongest first; equal ones in reading order. A
    /// map that is not here has none.
    pub fn links(&self, nth: usize) -> Vec<Link> {
        let Some(map) = self.attn.get(nth) else {
            return Vec::new();
        };
        let mut links: Vec<_> = (0..map.nrows())
            .flat_map(|query| (0..map.ncols()).map(move |key| (query, key)))
            .map(|(query, key)| Link { query, key, share: map[(query, key)] })
            .collect();
        links.sort_by(|a, b| b.share.total_cmp(&a.share));
        links
    }

    pub(crate) fn count(&self) -> usize {
        self.attn.len()
    }

    pub(crate) fn name(&self, nth: usize) -> String {
        match &self.names {
            Some(names) => names[nth].clone(),
            None => format!("head {}", self.numbers[nth]),
        }
    }

    /// What each map is of.
    fn of(&self) -> &'static str {
        if self.names.is_some() { "case" } else { "head" }
    }

    /// `query → key .673`
    pub(crate) fn describe(&self, link: Link) -> String {
        let (query, key) = (&self.queries[link.query], &self.keys[link.key]);
        format!("{query} → {key} {}", share(link.share))
    }

    /// "12 heads, 16 query tokens and 16 key tokens".
    pub(crate) fn sizes(&self) -> String {
        let count =
            |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        format!(
            "{}, {} and {}",
            count(self.count(), self.of()),
            count(self.queries.len(), "query token"),
            count(self.keys.len(), "key token"),
        )
    }

    /// The strongest link of each head, as one sentence.
    pub(crate) fn strongest(&self) -> String {
        let each: Vec<_> = (0..self.count())
            .map(|nth| {
                format!("{}, {}", self.name(nth), self.describe(self.links(nth)[0]))
            })
            .collect();
        format!("Strongest link of each {}: {}.", self.of(), each.join("; "))
    }
}

/// A share as the figures print it: `.673`, `1.000`.
pub fn share(share: f64) -> String {
    let digits = format!("{share:.3}");
    digits.strip_prefix('0').map_or(digits.clone(), str::to_owned)
}

pub(crate) fn owned<S: AsRef<str>>(tokens: &[S]) -> Vec<String> {
    tokens.iter().map(|token| token.as_ref().to_owned()).collect()
}

pub(crate) fn check_entries(head: usize, map: &Matrix) -> Result<()> {
    for query in 0..map.nrows() {
        for key in 0..map.ncols() {
            let entry = map[(query, key)];
            // NaN is in no range.
            if !(0.0..=1.0 + ROUNDING).contains(&entry) {
                return Err(Error::Entry { head, query, key, entry });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(attn: &[Matrix], queries: &[&str], keys: &[&str]) -> String {
        Heads::new(attn, queries, keys).unwrap_err().to_string()
    }

    #[test]
    fn bad_input_is_named_with_its_numbers() {
        let map = Matrix::from_element(2, 3, 0.25);
        let ab = ["a", "b"];
        insta::assert_snapshot!(
            message(&[], &ab, &ab),
            @"the number of heads is 0, and must be at least 1");
        insta::assert_snapshot!(
            message(std::slice::from_ref(&map), &[], &ab),
            @"the number of query tokens is 0, and must be at least 1");
        insta::assert_snapshot!(
            message(std::slice::from_ref(&map), &ab, &ab),
            @"the attention map of head 0 has shape (2, 3), expected (2, 2)");
        insta::assert_snapshot!(
            message(&vec![map.clone(); 17], &ab, &["x", "y", "z"]),
            @"17 heads are too many for one figure: draw at most 16 at a time");
        for wrong in [f64::NAN, f64::INFINITY, -0.5, 1.5] {
            let mut scores = map.clone();
            scores[(1, 2)] = wrong;
            let error = message(&[map.clone(), scores], &ab, &["x", "y", "z"]);
            let start = format!("head 1 holds {wrong} at query 1, key 2");
            assert!(error.starts_with(&start), "{error}");
        }
    }

    #[test]
    fn a_head_needs_its_number() {
        let attn = [Matrix::identity(1, 1)];
        let heads = Heads::of_tokens(&attn, &["a"]).unwrap();
        assert_eq!(heads.clone().numbered(&[11]).unwrap().name(0), "head 11");
        insta::assert_snapshot!(
            heads.clone().numbered(&[1, 2]).unwrap_err(),
            @"2 numbers were given for 1 heads: give one per head");
        insta::assert_snapshot!(
            heads.showing(3).unwrap_err(),
            @"there is no head 3 here, only [0]");
    }

    #[test]
    fn a_head_in_several_cases_is_called_by_them() {
        let attn = [0.7, 0.4].map(|share| Matrix::from_element(1, 1, share));
        let heads = Heads::of_tokens(&attn, &["a"]).unwrap();
        insta::assert_snapshot!(
            heads.clone().called(&["whole"]).unwrap_err(),
            @"the list of names has 1 entries, expected 2");
        let heads = heads.called(&["whole", "masked"]).unwrap();
        insta::assert_snapshot!(
            heads.sizes(),
            @"2 cases, 1 query token and 1 key token");
        insta::assert_snapshot!(
            heads.strongest(),
            @"Strongest link of each case: whole, a → a .700; masked, a → a .400.");
    }

    #[test]
    fn links_run_from_strong_to_weak() {
        let attn = [Matrix::from_row_slice(2, 2, &[0.3, 0.7, 0.9, 0.1])];
        let heads = Heads::of_tokens(&attn, &["a", "b"]).unwrap();
        let order: Vec<_> =
            heads.links(0).into_iter().map(|l| heads.describe(l)).collect();
        assert_eq!(order, ["b → a .900", "a → b .700", "a → a .300", "b → b .100"]);
        assert!(heads.links(1).is_empty());
    }
}
