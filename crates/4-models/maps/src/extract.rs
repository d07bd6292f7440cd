//! What of a long text a page or a picture has room for, and what it leaves out.

use attention::Matrix;
use serde_json::{Value, json};

use crate::{TextHeads, Tokens};

/// The keys of a text that show what its queries do: the first one and the special ones, the
/// queries' own and their neighbours, then those with the largest shares.
#[derive(Debug, Clone, PartialEq)]
pub struct Extract<'a> {
    text: &'a TextHeads,
    /// In the order of the text.
    keys: Vec<usize>,
    /// The largest share that any query gives a key that is left out.
    largest_left_out: f32,
}

impl<'a> Extract<'a> {
    /// Up to `most` keys.
    pub fn of(text: &'a TextHeads, most: usize) -> Self {
        let n = text.pieces.len();
        if n <= most {
            return Self { text, keys: (0..n).collect(), largest_left_out: 0.0 };
        }
        let mut largest = vec![0f32; n];
        for (_, map) in text.heads() {
            for (largest, column) in largest.iter_mut().zip(map.column_iter()) {
                *largest = column.iter().fold(*largest, |most, &share| most.max(share));
            }
        }
        // The shares are at most 1: a step of 1 is a rank.
        let mut rank = largest.clone();
        let sight = text.sight();
        for query in 0..text.asking().0.len() {
            let Some(place) = sight.place(query) else { continue };
            let near = rank.iter_mut().enumerate().take(place.saturating_add(2));
            for (key, rank) in near.skip(place.saturating_sub(1)) {
                *rank += f32::from(u8::from(sight.sees(query, key)));
            }
        }
        let n_queries = text.asking().0.len() as f32;
        for (key, rank) in rank.iter_mut().enumerate() {
            if key == 0 || text.is_special[key] {
                *rank += 3.0 * n_queries + 1.0;
            }
        }
        let mut keys: Vec<usize> = (0..n).collect();
        keys.sort_by(|&a, &b| rank[b].total_cmp(&rank[a]));
        let left_out = keys.split_off(most);
        keys.sort_unstable();
        let largest_left_out =
            left_out.into_iter().map(|key| largest[key]).fold(0.0, f32::max);
        Self { text, keys, largest_left_out }
    }

    /// What is left out, in words; `None` if nothing is.
    pub fn left_out(&self) -> Option<String> {
        let (n, all) = (self.keys.len(), self.text.pieces.len());
        (n < all).then(|| {
            format!(
                "{n} of {all} keys are drawn: none of the others gets more than {:.3} of a row",
                self.largest_left_out
            )
        })
    }

    /// All but the maps, as [`TextHeads::to_json`], with the places of the keys.
    pub fn to_json(&self) -> Value {
        let mut json = self.text.to_json();
        let pieces = self.text.shown_pieces();
        if self.keys.len() < pieces.len() {
            json["pieces"] = self.keys.iter().map(|&key| json!(pieces[key])).collect();
            let special = self.keys.iter().map(|&key| json!(self.text.is_special[key]));
            json["special"] = special.collect();
            json["keys"] = json!(self.keys);
            json["n_tokens"] = json!(pieces.len());
            if self.text.queries.is_none() {
                json["places"] = (0..pieces.len()).collect();
            }
        }
        json
    }

    /// Every share of these keys: layer by layer, head by head, row by row.
    pub fn shares(&self) -> Vec<f32> {
        let maps = self.text.heads().map(|(_, map)| map);
        let rows = maps.flat_map(Matrix::row_iter);
        rows.flat_map(|row| self.keys.iter().map(move |&key| row[key])).collect()
    }

    /// The keys, by their places.
    pub fn keys(&self) -> &[usize] {
        &self.keys
    }

    /// These columns of a map.
    pub fn columns(&self, map: &Matrix<f32>) -> Matrix<f32> {
        map.select_columns(&self.keys)
    }

    /// What these keys are called.
    pub fn pieces(&self) -> Vec<String> {
        self.keys.iter().map(|&key| self.text.pieces[key].clone()).collect()
    }
}

impl TextHeads {
    /// The same maps, with the rows of some tokens alone; of maps that are of some already,
    /// or of another text's, the queries of these numbers.
    ///
    /// # Panics
    /// For a query that is not there.
    #[must_use]
    pub fn rows(&self, queries: &[usize]) -> Self {
        let select = |map: &Matrix<f32>| map.select_rows(queries);
        let maps = self.maps.iter().map(|heads| heads.iter().map(select).collect());
        let (pieces, is_special) = self.asking();
        let asking = Tokens {
            pieces: queries.iter().map(|&query| pieces[query].clone()).collect(),
            is_special: queries.iter().map(|&query| is_special[query]).collect(),
        };
        let places = queries.iter().map(|&query| self.sight().place(query)).collect();
        Self {
            pieces: self.pieces.clone(),
            is_special: self.is_special.clone(),
            is_causal: self.is_causal,
            queries: Some(asking),
            places,
            maps: maps.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text of 40 tokens in which token 30 gives half of its row to token 7, and the last
    /// one all of it to itself.
    fn text() -> TextHeads {
        let map = Matrix::from_fn(40, 40, |query, key| match (query, key) {
            (30, 7) => 0.5,
            (30, key) if key <= 30 => 0.5 / 30.0,
            (39, 39) => 1.0,
            (39, _) => 0.0,
            (query, key) if key <= query => 1.0 / (query + 1) as f32,
            _ => 0.0,
        });
        let pieces = (0..40).map(|at| format!("t{at}")).collect();
        TextHeads::of_decoder(pieces, vec![false; 40], vec![vec![], vec![map]])
    }

    #[test]
    fn an_extract_has_the_keys_that_tell_and_says_what_it_leaves_out() {
        let all = text();
        let rows = all.rows(&[30, 39]);
        assert_eq!(rows.places.as_deref(), Some([30, 39].as_slice()));
        assert_eq!(rows.maps[1][0], all.maps[1][0].select_rows(&[30, 39]));
        let extract = Extract::of(&rows, 6);
        assert_eq!(extract.keys, [0, 7, 29, 30, 38, 39]);
        insta::assert_snapshot!(extract.left_out().unwrap(), @"6 of 40 keys are drawn: none of the others gets more than 0.017 of a row");
        assert_eq!(extract.shares()[1], 0.5);
        let json = extract.to_json();
        assert_eq!(json["places"], json!([30, 39]));
        assert_eq!(json["keys"], json!([0, 7, 29, 30, 38, 39]));
        assert_eq!((&json["pieces"][1], &json["n_tokens"]), (&json!("t7"), &json!(40)));
        let whole = Extract::of(&rows, 40);
        assert_eq!((whole.left_out(), whole.to_json().get("keys")), (None, None));
        assert_eq!(whole.shares(), rows.shares());
    }

    /// What rows say of a head is what those of the whole map say.
    #[test]
    fn rows_of_rows_are_rows() {
        let all = text();
        let [twice, once] = [all.rows(&[4, 30, 39]).rows(&[1, 2]), all.rows(&[30, 39])];
        assert_eq!(twice, once);
        let glance = once.glance(&once.maps[1][0]).unwrap();
        let same = 0.5 * (0.5 / 30.0 + 1.0);
        assert!((glance.share(crate::Kind::Same) - same).abs() < 1e-6, "{glance:?}");
        assert_eq!(once.links(&once.maps[1][0], 1)[0].key, 7);
    }
}
