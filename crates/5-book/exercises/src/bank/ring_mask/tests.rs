//! Other ways to write it, and what nobody has listed.

use super::*;
use crate::{Difference, Verdict};

fn passes(answer: MayAttend) {
    let verdict = EXERCISE.diagnose(|input| answer(&input.queries, &input.keys));
    assert_eq!(verdict, Verdict::Passed);
}

fn named(answer: MayAttend) -> &'static str {
    match EXERCISE.diagnose(|input| answer(&input.queries, &input.keys)) {
        Verdict::Mistake { mistake, .. } => EXERCISE.mistakes[mistake].name,
        _ => "",
    }
}

/// Chunk by chunk, pushing rows.
#[test]
fn loops_over_chunks_pass() {
    passes(|queries, keys| {
        let mut rows = Vec::new();
        for chunk in queries {
            for i in chunk.clone() {
                let mut row = Vec::new();
                for block in keys {
                    let n_seen = (i + 1).saturating_sub(block.start).min(block.len());
                    row.extend((0..block.len()).map(|j| j < n_seen));
                }
                rows.push(row);
            }
        }
        rows
    });
}

/// The whole sequence's mask, of which rows and columns are picked.
#[test]
fn a_part_of_the_whole_mask_passes() {
    passes(|queries, keys| {
        let all = queries.iter().chain(keys).map(|range| range.end).max().unwrap_or(0);
        let whole: Matrix = Mask::Causal.apply(Matrix::zeros(all, all));
        let pick = |i: usize| {
            keys.iter().cloned().flatten().map(|j| whole[(i, j)] == 0.0).collect()
        };
        queries.iter().cloned().flatten().map(pick).collect()
    });
}

/// The inputs' point: every pair of tokens is in one of the masks, once.
#[test]
fn the_masks_of_all_blocks_are_the_causal_mask() {
    let ranks = [vec![0..3, 8..10], vec![3..6, 6..8]];
    let mut n_open = 0;
    for (queries, keys) in ranks.iter().flat_map(|q| ranks.iter().map(move |k| (q, k))) {
        let input = Input { queries: queries.clone(), keys: keys.clone(), n_tokens: 10 };
        n_open += input.right().concat().into_iter().filter(|&open| open).count();
    }
    assert_eq!(n_open, 10 * 11 / 2);
}

#[test]
fn rows_that_are_missing_or_too_short_are_told_and_not_guessed_at() {
    let only_the_first = |queries: &[Range<usize>], keys: &[Range<usize>]| {
        let row = |i: usize| keys[0].clone().map(|j| j <= i).collect();
        queries[0].clone().map(row).collect()
    };
    let ragged = |queries: &[Range<usize>], _: &[Range<usize>]| {
        let positions = queries.iter().cloned().flatten();
        positions.map(|i| vec![true; i]).collect()
    };
    for answer in [only_the_first as MayAttend, ragged, |_, _| Vec::new()] {
        let verdict = EXERCISE.diagnose(|input| answer(&input.queries, &input.keys));
        let Verdict::Unknown { difference, .. } = verdict else {
            panic!("{verdict:?}");
        };
        let is_shape =
            matches!(difference, Difference::Shape { .. } | Difference::Parts { .. });
        assert!(is_shape, "{difference:?}");
    }
}

/// An index that runs over the end for some blocks hides no other slip.
#[test]
fn a_mistake_that_panics_too_is_named() {
    let from_the_first = |queries: &[Range<usize>], keys: &[Range<usize>]| {
        let n_q: usize = queries.iter().map(Range::len).sum();
        let n_kv: usize = keys.iter().map(Range::len).sum();
        assert_eq!(n_q, n_kv);
        let row = |row: usize| (0..n_kv).map(|column| column <= row).collect();
        (0..n_q).map(row).collect()
    };
    assert_eq!(named(from_the_first), "counts positions within the rank");
}
