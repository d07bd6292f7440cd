//! Two words' shares exchanged, and nothing else: do the answers follow?

use attention::{Matrix, Result};

use super::rows::{classes_of, each, named, places};
use crate::one_layer::{Examples, Model};

/// The pairs of targets whose shares can be exchanged: agent and object, agent and place,
/// object and place.
pub const PAIRS: [(usize, usize); 3] = [(0, 1), (0, 2), (1, 2)];

/// A sentence whose answers follow the shares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// Which of the examples.
    pub sentence: usize,
    /// Its agent and its object, which the model names rightly. With their shares
    /// exchanged it names each as the other.
    pub words: [usize; 2],
}

impl Exchange {
    /// The first sentence for which exchanging the shares of agent and object exchanges
    /// the two answers, all three having been right.
    ///
    /// # Errors
    /// As [`Model::say_attending`].
    pub fn first(model: &Model, examples: &Examples) -> Result<Option<Self>> {
        let (places, right) = (places(examples), classes_of(&examples.answers));
        let rows = model.say(examples)?.rows;
        let before = named(model, examples, &rows)?;
        let exchanged = exchanged_shares(&rows, &places[0], &places[1]);
        let after = named(model, examples, &exchanged)?;
        let words = |s: usize| [right[0][s], right[1][s]];
        let is = |&s: &usize| {
            (0..right.len()).all(|r| before[r][s] == right[r][s])
                && [after[1][s], after[0][s]] == words(s)
        };
        let first = (0..rows[0].nrows()).find(is);
        Ok(first.map(|sentence| Self { sentence, words: words(sentence) }))
    }
}

/// The shares at places a and b exchanged, sentence by sentence.
pub(super) fn exchanged_shares(rows: &[Matrix], a: &[usize], b: &[usize]) -> Vec<Matrix> {
    each(rows, |row, s| row.swap(a[s], b[s]))
}
