//! The strongest shares between words, each with its control.

use attention::{Matrix, Real};

use crate::Sight;

/// A share from one token of the text to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Which token asks.
    pub query: usize,
    /// Which it attends to.
    pub key: usize,
    /// Its share.
    pub share: f64,
    /// The control: the same key's share, averaged over the other tokens of the text that see
    /// it, without the key itself; 0 where none does. A key that all attend to alike is no link
    /// of this query.
    pub others: f64,
}

/// The strongest links of a head between different tokens of the text, the strongest
/// first; special tokens are neither queries nor keys. Between two texts all tokens differ.
///
/// # Shapes
/// `map` is `[n_q, n_kv]`, as `sight` has them.
pub fn links<T: Real>(map: &Matrix<T>, sight: &Sight<'_>, most: usize) -> Vec<Link> {
    let share = |query: usize, key: usize| map[(query, key)].to_f64();
    let words: Vec<usize> =
        sight.words().into_iter().filter(|&query| query < map.nrows()).collect();
    let mut links = Vec::new();
    let is_word = |&key: &usize| sight.is_special.get(key) != Some(&true);
    for key in (0..map.ncols()).filter(is_word) {
        let sees = |&query: &usize| sight.sees_another(query, key);
        let seeing: Vec<usize> = words.iter().copied().filter(sees).collect();
        let all: f64 = seeing.iter().map(|&query| share(query, key)).sum();
        for query in seeing.iter().copied() {
            let share = share(query, key);
            let others = (all - share) / (seeing.len() - 1).max(1) as f64;
            links.push(Link { query, key, share, others });
        }
    }
    links.sort_by(|a, b| b.share.total_cmp(&a.share));
    links.truncate(most);
    links
}
