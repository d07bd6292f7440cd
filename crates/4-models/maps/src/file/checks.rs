//! Whether numbers are shares, and what a reader should know of them.

use attention::Matrix;

use super::no_shares;
use crate::error::{Error, Result, Row};

/// What is odd about the shares of `maps[l][h]`.
///
/// # Errors
/// [`Error::NotANumber`] or [`Error::NoShare`].
pub(super) fn shares(
    file: &str,
    maps: &[Vec<Matrix>],
    tolerance: f64,
) -> Result<Vec<String>> {
    let (mut n_rows, mut n_empty, mut n_off) = (0, 0, 0);
    let mut worst: Option<(Row, f64)> = None;
    for (layer, heads) in maps.iter().enumerate() {
        for (head, map) in heads.iter().enumerate() {
            for (query, shares) in map.row_iter().enumerate() {
                let row = Row { layer, head, query };
                for (key, &value) in shares.iter().enumerate() {
                    let file = || file.to_owned();
                    if value.is_nan() {
                        return Err(Error::NotANumber { file: file(), row, key });
                    }
                    if !(0.0..=1.0 + tolerance).contains(&value) {
                        let looks = no_shares::looks(maps, tolerance);
                        return Err(Error::NoShare {
                            file: file(),
                            row,
                            key,
                            value,
                            looks,
                        });
                    }
                }
                n_rows += 1;
                let sum = shares.sum();
                if sum == 0.0 {
                    n_empty += 1;
                } else if (sum - 1.0).abs() > tolerance {
                    n_off += 1;
                    let is_worse =
                        |(_, other): (_, f64)| (sum - 1.0).abs() > (other - 1.0).abs();
                    if worst.is_none_or(is_worse) {
                        worst = Some((row, sum));
                    }
                }
            }
        }
    }
    let mut notes = Vec::new();
    if let Some((row, sum)) = worst {
        notes.push(format!(
            "{n_off} of {n_rows} rows do not sum to 1; farthest off is {row}: {sum:.4}"
        ));
    }
    if n_empty > 0 {
        notes.push(format!("{n_empty} of {n_rows} rows are empty: every share is 0"));
    }
    Ok(notes)
}

/// Whether no head gives a later token any share at all; `place` is where a query stands.
///
/// # Shapes
/// `maps[l][h]` are `[n_q, n]`.
pub(super) fn is_causal(
    maps: &[Vec<Matrix<f32>>],
    place: impl Fn(usize) -> usize,
) -> bool {
    let Some(first) = maps.iter().flatten().next() else { return false };
    let later = |query: usize| (place(query) + 1).min(first.ncols())..;
    let has_later = (0..first.nrows()).any(|query| later(query).start < first.ncols());
    let sees_none = |map: &Matrix<f32>| {
        (0..map.nrows())
            .all(|query| map.view_range(query, later(query)).iter().all(|&s| s == 0.0))
    };
    has_later && maps.iter().flatten().all(sees_none)
}

/// What the maps were taken for, and what looks like padding in them.
pub(super) fn reading(is_causal: bool, maps: &[Vec<Matrix<f32>>]) -> Vec<String> {
    let n = maps.iter().flatten().next().map_or(0, Matrix::ncols);
    if is_causal {
        let causal = "read as causal: no head gives a later token any share".to_owned();
        return vec![causal];
    }
    let mut notes = vec![
        "read as attention both ways: some head attends to a later token".to_owned(),
    ];
    let is_unseen = |key: usize| {
        maps.iter().flatten().all(|map| map.column(key).iter().all(|&s| s == 0.0))
    };
    let n_unseen = (0..n).rev().take_while(|&key| is_unseen(key)).count();
    if n_unseen > 0 {
        notes.push(format!(
            "no head gives the last {n_unseen} tokens any share: they look like padding, and \
             without an `attention_mask` they are kept"
        ));
    }
    notes
}

/// In the precision in which maps are shown.
pub(super) fn rounded(maps: Vec<Vec<Matrix>>) -> Vec<Vec<Matrix<f32>>> {
    let round = |map: Matrix| map.map(|share| share as f32);
    maps.into_iter().map(|heads| heads.into_iter().map(round).collect()).collect()
}
