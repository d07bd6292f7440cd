//! A mask on one block of scores: the queries and the keys of two ranges.
//!
//! [`Mask::added`] says what a mask does to one score. Here it is done to a block at a
//! time, column by column as the block lies in memory; and a block that a mask leaves
//! alone, or blocks whole, is recognised before it is computed.
//!
//! Throughout, `lengths` is `(n_q, n_kv)`, and the mask passed [`Mask::check`] for one
//! head ([`Mask::of_head`]).

use std::ops::Range;

use attention::{Mask, Matrix};

const BLOCKED: f32 = f32::NEG_INFINITY;

/// The block with this mask on it: blocked scores are −∞, whatever they were before (a
/// NaN too), and what is added is added `factor` times.
///
/// A number too large for f32 becomes the largest f32: −1e300 is a very low score and
/// blocks nothing, as in the definition.
///
/// # Shapes
/// The score of query `i` and key `j` is
/// `scores[(j − keys.start) · stride + (i − queries.start)]`.
pub(crate) fn apply(
    mask: &Mask,
    scores: &mut [f32],
    stride: usize,
    queries: Range<usize>,
    keys: Range<usize>,
    lengths: (usize, usize),
    factor: f32,
) {
    let (n_q, n_kv) = lengths;
    let (first_query, n_queries) = (queries.start, queries.len());
    let columns = scores.chunks_mut(stride.max(1)).map(|column| &mut column[..n_queries]);
    let columns = keys.clone().zip(columns);
    match mask {
        Mask::None => {}
        Mask::Causal => columns.for_each(|(j, column)| {
            let first_open = (j + n_q).saturating_sub(n_kv + first_query);
            column[..first_open.min(n_queries)].fill(BLOCKED);
        }),
        Mask::CausalTopLeft => columns.for_each(|(j, column)| {
            let first_open = j.saturating_sub(first_query);
            column[..first_open.min(n_queries)].fill(BLOCKED);
        }),
        Mask::FirstKeys(n_open) => columns
            .filter(|(j, _)| j >= n_open)
            .for_each(|(_, column)| column.fill(BLOCKED)),
        Mask::Keys(open) => columns
            .filter(|(j, _)| !open[*j])
            .for_each(|(_, column)| column.fill(BLOCKED)),
        Mask::Allowed(allowed) => columns.for_each(|(j, column)| {
            for (score, &open) in column.iter_mut().zip(part(allowed, &queries, j)) {
                *score = if open { *score } else { BLOCKED };
            }
        }),
        Mask::Additive(matrix) => columns.for_each(|(j, column)| {
            for (score, &added) in column.iter_mut().zip(part(matrix, &queries, j)) {
                *score = with_added(*score, added, factor);
            }
        }),
        Mask::All(masks) if n_added(mask) <= 1 => {
            for mask in masks {
                apply(
                    mask,
                    scores,
                    stride,
                    queries.clone(),
                    keys.clone(),
                    lengths,
                    factor,
                );
            }
        }
        Mask::PerHead(masks) => {
            apply(&masks[0], scores, stride, queries, keys, lengths, factor);
        }
        _ => columns.for_each(|(j, column)| {
            for (i, score) in queries.clone().zip(column) {
                let added = mask.added((i, j), lengths).unwrap_or(f64::NEG_INFINITY);
                *score = with_added(*score, added, factor);
            }
        }),
    }
}

/// The keys outside of which these queries see nothing: the first to the last key that
/// any of them may attend to, or an empty range.
pub(crate) fn visible_keys(
    mask: &Mask,
    queries: Range<usize>,
    (n_q, n_kv): (usize, usize),
) -> Range<usize> {
    let between = |sees: &dyn Fn(usize) -> bool| {
        let first = (0..n_kv).find(|&j| sees(j)).unwrap_or(n_kv);
        let last = (first..n_kv).rfind(|&j| sees(j));
        first..last.map_or(first, |last| last + 1)
    };
    match mask {
        Mask::Causal => 0..(queries.end + n_kv).saturating_sub(n_q).min(n_kv),
        Mask::CausalTopLeft => 0..queries.end.min(n_kv),
        Mask::FirstKeys(n_open) => 0..*n_open,
        Mask::Keys(open) => between(&|j| open[j]),
        Mask::Allowed(allowed) => {
            between(&|j| part(allowed, &queries, j).iter().any(|&open| open))
        }
        Mask::Additive(matrix) => {
            between(&|j| part(matrix, &queries, j).iter().any(|added| added.is_finite()))
        }
        Mask::All(masks) => masks.iter().fold(0..n_kv, |seen, mask| {
            let by_this = visible_keys(mask, queries.clone(), (n_q, n_kv));
            let start = seen.start.max(by_this.start);
            start..seen.end.min(by_this.end).max(start)
        }),
        Mask::PerHead(masks) => visible_keys(&masks[0], queries, (n_q, n_kv)),
        _ => 0..n_kv,
    }
}

/// Whether the mask leaves this block as it is: nothing blocked, nothing added.
pub(crate) fn is_open(
    mask: &Mask,
    queries: Range<usize>,
    keys: Range<usize>,
    (n_q, n_kv): (usize, usize),
) -> bool {
    match mask {
        Mask::None => true,
        Mask::Causal => keys.end + n_q <= queries.start + n_kv + 1,
        Mask::CausalTopLeft => keys.end <= queries.start + 1,
        Mask::FirstKeys(n_open) => keys.end <= *n_open,
        Mask::Keys(open) => open[keys].iter().all(|&open| open),
        Mask::Allowed(allowed) => {
            keys.clone().all(|j| part(allowed, &queries, j).iter().all(|&open| open))
        }
        Mask::Additive(matrix) => {
            keys.clone().all(|j| part(matrix, &queries, j).iter().all(|&s| s == 0.0))
        }
        Mask::All(masks) => masks
            .iter()
            .all(|mask| is_open(mask, queries.clone(), keys.clone(), (n_q, n_kv))),
        Mask::PerHead(masks) => is_open(&masks[0], queries, keys, (n_q, n_kv)),
        _ => false,
    }
}

/// What a matrix says about these queries and key `j`: contiguous.
fn part<'a, T>(matrix: &'a Matrix<T>, queries: &Range<usize>, j: usize) -> &'a [T] {
    &matrix.as_slice()[j * matrix.nrows()..][queries.clone()]
}

fn with_added(score: f32, added: f64, factor: f32) -> f32 {
    let scaled = (added * f64::from(factor)) as f32;
    if added.is_finite() { score + scaled.clamp(f32::MIN, f32::MAX) } else { BLOCKED }
}

/// How many matrices are added to a score; where several are, they are summed in f64.
fn n_added(mask: &Mask) -> usize {
    match mask {
        Mask::None | Mask::Causal | Mask::CausalTopLeft => 0,
        Mask::FirstKeys(_) | Mask::Keys(_) | Mask::Allowed(_) => 0,
        Mask::Additive(_) => 1,
        Mask::All(masks) => masks.iter().map(n_added).sum(),
        Mask::PerHead(masks) => n_added(&masks[0]),
        _ => 2,
    }
}

#[cfg(test)]
mod tests;
