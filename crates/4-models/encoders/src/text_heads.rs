//! A text in all heads of a model: what a terminal prints and a page draws.

use attention::Matrix;
use model_files::shown;
use serde_json::{Value, json};

use crate::heads::causal_links;
use crate::{Glance, Link, links};

/// A text in all heads.
#[derive(Debug, Clone, PartialEq)]
pub struct TextHeads {
    /// Its tokens.
    pub pieces: Vec<String>,
    /// Which of them are no part of the text: those that the tokenizer put there; of a model
    /// that reads from left to right the first too, which sees nothing but itself.
    pub is_special: Vec<bool>,
    /// Whether a token sees only those before it, and itself.
    pub is_causal: bool,
    /// `maps[l][i]`, `[n, n]`.
    pub maps: Vec<Vec<Matrix<f32>>>,
}

impl TextHeads {
    /// The maps of an encoder.
    pub fn of_encoder(
        pieces: Vec<String>,
        is_special: Vec<bool>,
        maps: Vec<Vec<Matrix<f32>>>,
    ) -> Self {
        Self { pieces, is_special, is_causal: false, maps }
    }

    /// The maps of a decoder.
    pub fn of_decoder(
        pieces: Vec<String>,
        mut is_special: Vec<bool>,
        maps: Vec<Vec<Matrix<f32>>>,
    ) -> Self {
        is_special.iter_mut().take(1).for_each(|first| *first = true);
        Self { pieces, is_special, is_causal: true, maps }
    }

    /// Every head, by its layer and its number, both from 0, and its map.
    pub fn heads(&self) -> impl Iterator<Item = ([usize; 2], &Matrix<f32>)> {
        self.maps.iter().enumerate().flat_map(|(layer, maps)| {
            maps.iter().enumerate().map(move |(head, map)| ([layer, head], map))
        })
    }

    /// What a head does, in a few numbers; `None` for a text without a token.
    pub fn glance(&self, map: &Matrix<f32>) -> Option<Glance> {
        Glance::of(map, &self.is_special)
    }

    /// The control: what a head would do that gives every key it sees the same.
    pub fn uniform(&self) -> Option<Glance> {
        match self.is_causal {
            true => Glance::uniform_causal(&self.is_special),
            false => Glance::uniform(&self.is_special),
        }
    }

    /// The strongest links of a head, `most` of them.
    pub fn links(&self, map: &Matrix<f32>, most: usize) -> Vec<Link> {
        match self.is_causal {
            true => causal_links(map, &self.is_special, most),
            false => links(map, &self.is_special, most),
        }
    }

    /// The pieces as they are fit to be shown.
    pub fn shown_pieces(&self) -> Vec<String> {
        self.pieces.iter().map(|piece| shown(piece)).collect()
    }

    /// All but the maps themselves, as the explorer of heads takes a text.
    pub fn to_json(&self) -> Value {
        json!({
            "pieces": self.shown_pieces(),
            "special": self.is_special,
            "causal": self.is_causal,
            "n_heads": self.maps.first().map_or(0, Vec::len),
        })
    }

    /// What the other queries that see a key give it on average: the control of a share.
    pub fn others(&self, map: &Matrix<f32>, query: usize, key: usize) -> f64 {
        let all: f64 = map.column(key).iter().map(|&share| f64::from(share)).sum();
        let n_blind = if self.is_causal { key } else { 0 };
        let n_others = map.nrows().saturating_sub(1 + n_blind).max(1);
        (all - f64::from(map[(query, key)])) / n_others as f64
    }

    /// Every share: layer by layer, head by head, row by row.
    pub fn shares(&self) -> Vec<f32> {
        let rows = self.heads().flat_map(|(_, map)| map.row_iter());
        rows.flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The control of a key that few queries see is an average over those few.
    #[test]
    fn the_others_of_a_causal_map_are_those_that_see_the_key() {
        let rows = [1.0, 0.0, 0.0, 0.4, 0.6, 0.0, 0.1, 0.2, 0.7];
        let map = Matrix::from_row_slice(3, 3, &rows);
        let pieces = || ["a", "b", "c"].map(String::from).to_vec();
        let causal =
            TextHeads::of_decoder(pieces(), vec![false; 3], vec![vec![map.clone()]]);
        let others = |text: &TextHeads| text.others(&text.maps[0][0], 1, 1);
        assert!((others(&causal) - 0.2).abs() < 1e-6, "{}", others(&causal));
        assert_eq!(causal.is_special, [true, false, false]);
        let both_ways = TextHeads::of_encoder(pieces(), vec![false; 3], vec![vec![map]]);
        assert!((others(&both_ways) - 0.1).abs() < 1e-6);
    }
}
