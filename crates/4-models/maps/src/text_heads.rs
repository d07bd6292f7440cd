//! A text in all heads of a model: what a terminal prints and a page draws.

use attention::Matrix;
use model_files::shown;
use serde_json::{Value, json};

use crate::{Glance, Link, Place, Sight, links};

/// The tokens of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Tokens {
    /// As a tokenizer has them.
    pub pieces: Vec<String>,
    /// Which of them are no part of the text.
    pub is_special: Vec<bool>,
}

/// A text in all heads.
#[derive(Debug, Clone, PartialEq)]
pub struct TextHeads {
    /// Its tokens: the keys, and where no other text asks the queries too.
    pub pieces: Vec<String>,
    /// Which of them are no part of the text: those that the tokenizer put there; of a model
    /// that reads from left to right the first too, which sees nothing but itself.
    pub is_special: Vec<bool>,
    /// Whether a token sees only those before it, and itself.
    pub is_causal: bool,
    /// The queries, where they are others than the keys: tokens of another text, as in
    /// cross-attention, or some of this one.
    pub queries: Option<Tokens>,
    /// Which tokens of this text the queries are, where they are some of it.
    pub places: Option<Vec<usize>>,
    /// `maps[l][i]`, `[n_q, n_kv]`; a layer may have more heads than another.
    pub maps: Vec<Vec<Matrix<f32>>>,
}

impl TextHeads {
    /// The maps of an encoder.
    pub fn of_encoder(
        pieces: Vec<String>,
        is_special: Vec<bool>,
        maps: Vec<Vec<Matrix<f32>>>,
    ) -> Self {
        Self { pieces, is_special, is_causal: false, queries: None, places: None, maps }
    }

    /// The maps of a decoder.
    pub fn of_decoder(
        pieces: Vec<String>,
        mut is_special: Vec<bool>,
        maps: Vec<Vec<Matrix<f32>>>,
    ) -> Self {
        is_special.iter_mut().take(1).for_each(|first| *first = true);
        Self { pieces, is_special, is_causal: true, queries: None, places: None, maps }
    }

    /// The maps of `queries` on the tokens of another text.
    pub fn between(queries: Tokens, keys: Tokens, maps: Vec<Vec<Matrix<f32>>>) -> Self {
        let Tokens { pieces, is_special } = keys;
        let queries = Some(queries);
        Self { pieces, is_special, is_causal: false, queries, places: None, maps }
    }

    /// Says that the maps have rows for these tokens alone, in this order.
    pub(crate) fn asked_by(&mut self, places: Vec<usize>) {
        let of = |place: &usize| (self.pieces[*place].clone(), self.is_special[*place]);
        let (pieces, is_special) = places.iter().map(of).unzip();
        self.queries = Some(Tokens { pieces, is_special });
        self.places = Some(places);
    }

    /// The maps of a decoder for some of its tokens as queries: those at `places`.
    ///
    /// # Shapes
    /// `maps[l][i]` is `[n_chosen, n]`.
    ///
    /// # Panics
    /// For a place that no token has.
    pub fn of_decoder_rows(
        pieces: Vec<String>,
        is_special: Vec<bool>,
        places: Vec<usize>,
        maps: Vec<Vec<Matrix<f32>>>,
    ) -> Self {
        let mut text = Self::of_decoder(pieces, is_special, maps);
        text.asked_by(places);
        text
    }

    /// The tokens that ask.
    pub fn asking(&self) -> (&[String], &[bool]) {
        match &self.queries {
            Some(tokens) => (&tokens.pieces, &tokens.is_special),
            None => (&self.pieces, &self.is_special),
        }
    }

    /// Every head, by its layer and its number, both from 0, and its map.
    pub fn heads(&self) -> impl Iterator<Item = ([usize; 2], &Matrix<f32>)> {
        self.maps.iter().enumerate().flat_map(|(layer, maps)| {
            maps.iter().enumerate().map(move |(head, map)| ([layer, head], map))
        })
    }

    /// Which keys a query sees, and where both stand.
    pub fn sight(&self) -> Sight<'_> {
        let (_, asking) = self.asking();
        let place = match (&self.queries, &self.places) {
            (None, _) => Place::Own,
            (Some(_), Some(places)) => Place::Chosen(places),
            (Some(_), None) => Place::Elsewhere,
        };
        let (is_special, is_causal) = (&self.is_special, self.is_causal);
        Sight { asking, is_special, is_causal, place }
    }

    /// Whether the queries are tokens of another text.
    pub fn is_cross(&self) -> bool {
        matches!(self.sight().place, Place::Elsewhere)
    }

    /// What a head does, in a few numbers; `None` for a text without a token.
    pub fn glance(&self, map: &Matrix<f32>) -> Option<Glance> {
        Glance::of(map, &self.sight())
    }

    /// The control: what a head would do that gives every key it sees the same.
    pub fn uniform(&self) -> Option<Glance> {
        Glance::uniform(&self.sight())
    }

    /// The strongest links of a head, `most` of them.
    pub fn links(&self, map: &Matrix<f32>, most: usize) -> Vec<Link> {
        links(map, &self.sight(), most)
    }

    /// The pieces as they are fit to be shown.
    pub fn shown_pieces(&self) -> Vec<String> {
        self.pieces.iter().map(|piece| shown(piece)).collect()
    }

    /// All but the maps themselves, as the explorer of heads takes a text.
    pub fn to_json(&self) -> Value {
        let mut text = json!({
            "pieces": self.shown_pieces(),
            "special": self.is_special,
            "causal": self.is_causal,
            "n_heads": self.maps.iter().map(Vec::len).max().unwrap_or(0),
        });
        if let Some(Tokens { pieces, is_special }) = &self.queries {
            let pieces: Vec<_> = pieces.iter().map(|piece| shown(piece)).collect();
            text["queries"] = json!({ "pieces": pieces, "special": is_special });
        }
        if let Some(places) = &self.places {
            text["places"] = json!(places);
        }
        text
    }

    /// What the other queries that see a key give it on average, without the key itself: the
    /// control of a share. 0 where none does.
    pub fn others(&self, map: &Matrix<f32>, query: usize, key: usize) -> f64 {
        let sight = self.sight();
        let others = (0..map.nrows())
            .filter(|&other| other != query && sight.sees_another(other, key));
        let shares: Vec<f64> = others.map(|other| f64::from(map[(other, key)])).collect();
        shares.iter().sum::<f64>() / shares.len().max(1) as f64 + 0.0 // no −0
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

    /// Of three queries on two keys the others are two, also on the diagonal.
    #[test]
    fn the_others_between_two_texts_are_all_other_queries() {
        let map = Matrix::from_row_slice(3, 2, &[0.5, 0.5, 0.2, 0.8, 0.9, 0.1]);
        let tokens = |pieces: &[&str]| Tokens {
            pieces: pieces.iter().map(|&piece| piece.to_owned()).collect(),
            is_special: vec![false; pieces.len()],
        };
        let text = TextHeads::between(
            tokens(&["der", "Hund", "."]),
            tokens(&["the", "dog"]),
            vec![vec![map]],
        );
        let map = &text.maps[0][0];
        assert!((text.others(map, 1, 1) - 0.3).abs() < 1e-6);
        let link = text.links(map, 1)[0];
        assert_eq!((link.query, link.key), (2, 0));
        assert!((link.others - 0.35).abs() < 1e-6);
        assert!((text.uniform().unwrap().entropy - 1.0).abs() < 1e-12);
        assert_eq!(text.to_json()["queries"]["pieces"][1], "Hund");
    }
}
