//! One head's shares of two words changed, and nothing else: do the answers stay?

use attention::{Matrix, Result};

use super::exchange::PAIRS;
use super::rows::{classes_of, each, named, places};
use super::sizes::agreement;
use crate::one_layer::{Examples, Model};

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
    /// As [`Model::say_attending`].
    pub fn equal(model: &Model, examples: &Examples) -> Result<Self> {
        Self::changed(model, examples, |row, a, b| {
            let mean = (row[a] + row[b]) / 2.0;
            (row[a], row[b]) = (mean, mean);
        })
    }

    /// The same with any change of a head's row, which is given the places of the two words.
    ///
    /// # Errors
    /// As [`Model::say_attending`].
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
