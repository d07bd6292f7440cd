//! What an entry of an answer is called.

use crate::Place;

/// Of an attention map, or of scores.
pub fn map<I>(_: &I, Place { row, column, .. }: Place) -> String {
    format!("query {row}, key {column}")
}

/// Of a row of features.
pub fn feature<I>(_: &I, Place { column, .. }: Place) -> String {
    format!("feature {column}")
}

/// Of tokens.
pub fn token_feature<I>(_: &I, Place { row, column, .. }: Place) -> String {
    format!("token {row}, feature {column}")
}

/// Of several matrices, one a head.
pub fn head_token_feature<I>(_: &I, Place { part, row, column }: Place) -> String {
    format!("head {part}, token {row}, feature {column}")
}

/// Of a count, which is all there is.
pub fn count<I>(_: &I, _: Place) -> String {
    String::new()
}
