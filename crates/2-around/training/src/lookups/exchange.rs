//! The shares of words exchanged, or changed otherwise, and nothing else: do the answers follow?

use attention::{Matrix, Result};

use crate::one_layer::{Answers, Examples, Model, named_classes};

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
    /// [`attention::Error`] if the examples do not fit the model.
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

/// The answers for two words where one head's shares of the two are changed, head by head and
/// pair by pair, `[n_heads, 3]` in the order of [`PAIRS`].
#[derive(Debug, Clone, PartialEq)]
pub struct PairAnswers {
    /// The share of the answers that are right.
    pub right: Matrix,
    /// The share that names the other of the two words.
    pub other: Matrix,
}

impl PairAnswers {
    /// The two shares made equal, to their mean. A head that tells the two words apart by the
    /// sizes of its shares is left with the toss of a coin. How it could fail: where sizes say
    /// nothing, the answers stay.
    ///
    /// # Errors
    /// [`attention::Error`] if the examples do not fit the model.
    pub fn equal(model: &Model, examples: &Examples) -> Result<Self> {
        Self::changed(model, examples, |row, a, b| {
            let mean = (row[a] + row[b]) / 2.0;
            (row[a], row[b]) = (mean, mean);
        })
    }

    /// The same with any change of a head's row, which is given the places of the two words.
    ///
    /// # Errors
    /// [`attention::Error`] if the examples do not fit the model.
    ///
    /// # Shapes
    /// The examples are those of [`Lookups`](crate::lookups::Lookups): three planted keys each.
    pub fn changed(
        model: &Model,
        examples: &Examples,
        change: impl Fn(&mut [f64], usize, usize),
    ) -> Result<Self> {
        let (places, classes) = (places(examples), classes_of(&examples.answers));
        let of_heads = model.say(examples)?.rows;
        let [mut right, mut other] =
            [(); 2].map(|()| Matrix::zeros(of_heads.len(), PAIRS.len()));
        for head in 0..of_heads.len() {
            for (nth, (a, b)) in PAIRS.into_iter().enumerate() {
                let of_pair =
                    |row: &mut [f64], s: usize| change(row, places[a][s], places[b][s]);
                let mut rows = of_heads.clone();
                rows[head] = each(&of_heads[head..=head], of_pair).swap_remove(0);
                let named = named(model, examples, &rows)?;
                let mean = |of: [(usize, usize); 2]| {
                    of.map(|(r, is)| agreement(&named[r], &classes[is]))
                        .iter()
                        .sum::<f64>()
                        / 2.0
                };
                right[(head, nth)] = mean([(a, a), (b, b)]);
                other[(head, nth)] = mean([(a, b), (b, a)]);
            }
        }
        Ok(Self { right, other })
    }
}

/// The right class of each sentence, target by target; none where answers are numbers.
pub(super) fn classes_of(answers: &Answers) -> &[Vec<usize>] {
    match answers {
        Answers::Classes { of_targets, .. } => of_targets,
        Answers::Numbers(_) => &[],
    }
}

/// What the model names where its heads attend by these rows, target by target.
pub(super) fn named(
    model: &Model,
    examples: &Examples,
    rows: &[Matrix],
) -> Result<Vec<Vec<usize>>> {
    let answers = model.say_attending(examples, rows)?;
    let n_classes = answers.ncols() / classes_of(&examples.answers).len();
    Ok(named_classes(&answers, n_classes))
}

/// `places[r][s]` is where the word of role r stands in sentence s.
pub(super) fn places(examples: &Examples) -> Vec<Vec<usize>> {
    let of_target = |planted: &Matrix| {
        planted.row_iter().map(|row| row.transpose().argmax().0).collect()
    };
    examples.planted.iter().map(of_target).collect()
}

/// The rows of all heads, each sentence's changed in place.
pub(super) fn each(rows: &[Matrix], change: impl Fn(&mut [f64], usize)) -> Vec<Matrix> {
    let changed = |rows: &Matrix| {
        let mut by_sentence = rows.transpose(); // a sentence a column, and so in one piece
        for (s, mut column) in by_sentence.column_iter_mut().enumerate() {
            change(column.as_mut_slice(), s);
        }
        by_sentence.transpose()
    };
    rows.iter().map(changed).collect()
}

/// The share of entries in which both lists agree.
pub(super) fn agreement(a: &[usize], b: &[usize]) -> f64 {
    a.iter().zip(b).filter(|(a, b)| a == b).count() as f64 / a.len() as f64
}
