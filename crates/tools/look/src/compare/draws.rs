//! Texts as far from a text as another one is, by chance: the control of two texts.

use ::texts::Pieces;
use anyhow::Result;
use attention::{Rng, SeedableRng};
use maps::TextHeads;
use rand::RngExt;
use rand::seq::SliceRandom;

use crate::prose::Prose;
use crate::source::Reader;

/// So many texts are drawn: by chance one head in ten differs by more than in each.
pub const N_DRAWS: u64 = 9;

/// Texts that were drawn, in all heads, and what they are.
#[derive(Debug, Default)]
pub struct Draws {
    pub texts: Vec<TextHeads>,
    pub what: String,
}

/// Of two texts that differ in some of as many tokens: the first with as many others of its
/// tokens exchanged. Of others: as many tokens of prose as the second has.
pub fn draws(
    reader: &Reader,
    prose: &Prose,
    [first, second]: [&Pieces; 2],
) -> Result<Draws> {
    let n = second.sequence.ids.len();
    let exchanged = Exchange::of(first, second);
    let what = match &exchanged {
        Some(it) => format!(
            "the first text with {} other of its tokens exchanged for tokens of it",
            it.n_exchanged
        ),
        None => format!("{n} tokens of the book's prose"),
    };
    let draw = |seed: u64| {
        let (like, ids) = match &exchanged {
            Some(it) => (first, it.draw(seed)),
            None => (second, prose.like(n, seed)?.1),
        };
        let mut pieces = like.clone();
        pieces.sequence.ids = ids;
        reader.heads(pieces)
    };
    let texts = (1..=N_DRAWS).map(draw).collect::<Result<_>>()?;
    Ok(Draws { texts, what })
}

/// How one text is made another by exchanging tokens.
struct Exchange<'a> {
    ids: &'a [usize],
    n_exchanged: usize,
    /// The tokens of the text that both have.
    unchanged: Vec<usize>,
}

impl<'a> Exchange<'a> {
    /// `None` where more was exchanged than can be, or nothing.
    fn of(first: &'a Pieces, second: &Pieces) -> Option<Self> {
        let (ids, others) = (&first.sequence.ids, &second.sequence.ids);
        if ids.len() != others.len() {
            return None;
        }
        let words = (0..ids.len()).filter(|&at| !first.is_special[at]);
        let (unchanged, changed): (Vec<usize>, Vec<usize>) =
            words.partition(|&at| ids[at] == others[at]);
        let n_exchanged = changed.len();
        let is_possible = n_exchanged > 0 && 2 * n_exchanged <= unchanged.len();
        is_possible.then_some(Self { ids, n_exchanged, unchanged })
    }

    fn draw(&self, seed: u64) -> Vec<usize> {
        let rng = &mut Rng::seed_from_u64(seed);
        let mut ids = self.ids.to_vec();
        let mut places = self.unchanged.clone();
        let (chosen, _) = places.partial_shuffle(rng, self.n_exchanged);
        for &mut at in chosen {
            let others: Vec<usize> = self
                .unchanged
                .iter()
                .map(|&at| self.ids[at])
                .filter(|&id| id != self.ids[at])
                .collect();
            if !others.is_empty() {
                ids[at] = others[rng.random_range(0..others.len())];
            }
        }
        ids
    }
}

#[cfg(test)]
mod tests {
    use model_files::Sequence;

    use super::*;

    fn pieces(ids: &[usize]) -> Pieces {
        let n = ids.len();
        Pieces {
            sequence: Sequence::new(ids.to_vec()),
            pieces: vec![String::new(); n],
            is_special: (0..n).map(|at| at == 0 || at + 1 == n).collect(),
            n_uncut: n,
        }
    }

    /// One token of six was exchanged: so is another one in each draw, in different ways.
    #[test]
    fn as_many_other_tokens_are_exchanged() {
        let [first, second] =
            [[0, 5, 6, 7, 8, 9, 1], [0, 5, 6, 4, 8, 9, 1]].map(|ids| pieces(&ids));
        let exchange = Exchange::of(&first, &second).unwrap();
        let drawn: Vec<_> = (1..=N_DRAWS).map(|seed| exchange.draw(seed)).collect();
        for ids in &drawn {
            let differ: Vec<usize> =
                (0..7).filter(|&at| ids[at] != first.sequence.ids[at]).collect();
            assert_eq!(differ.len(), 1, "{ids:?}");
            assert!([1, 2, 4, 5].contains(&differ[0]), "{ids:?}");
            assert!([5, 6, 8, 9].contains(&ids[differ[0]]), "{ids:?}");
        }
        assert!(drawn.iter().any(|ids| *ids != drawn[0]));
    }

    #[test]
    fn where_nothing_or_most_was_exchanged_there_is_none() {
        let first = pieces(&[0, 5, 6, 7, 1]);
        for other in [&[0, 5, 6, 7, 1][..], &[0, 4, 3, 7, 1], &[0, 5, 6, 7, 8, 1]] {
            assert!(Exchange::of(&first, &pieces(other)).is_none(), "{other:?}");
        }
    }
}
