//! The way round for numbers that are not finite, as in `tiles`: by the definition.

use std::ops::Range;

use attention::{Matrix, softmax_rows, weighted_values};
use tiles::panels::round_up;
use tiles::tile::ROWS;

use crate::{PackedCache, Scoring};

#[cfg(test)]
thread_local! {
    /// How often this thread went this way.
    pub(crate) static TIMES_TAKEN: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The output of one query of head `head`, `[d_v]`.
#[cold]
pub(crate) fn output(
    q: &[f32],
    head: usize,
    cache: &PackedCache,
    keys: Range<usize>,
    scoring: &Scoring,
) -> Vec<f32> {
    #[cfg(test)]
    TIMES_TAKEN.set(TIMES_TAKEN.get() + 1);
    let heads = cache.heads();
    let kv_head = head / heads.group();
    let entry = |panels: &[f32], width: usize, key: usize, f: usize| {
        panels[(key / ROWS * round_up(width) + f) * ROWS + key % ROWS]
    };
    let (k, v) = (cache.keys(kv_head), cache.values(kv_head));
    let score = |key: usize| {
        let products =
            q.iter().enumerate().map(|(f, q)| q * entry(k, heads.d_k(), key, f));
        let score = products.sum::<f32>() * scoring.scale(heads);
        scoring.soft_cap.map_or(score, |cap| cap * (score / cap).tanh())
    };
    let sink = scoring.sink.as_ref().map(|sink| sink[head]);
    let scores = keys.clone().map(score).chain(sink);
    let n = keys.len() + usize::from(sink.is_some());
    let attn = softmax_rows(Matrix::from_row_iterator(1, n, scores));
    let attn = attn.columns(0, keys.len()).into_owned(); // the sink has no value
    let values = Matrix::from_fn(keys.len(), heads.d_v(), |j, f| {
        entry(v, heads.d_v(), keys.start + j, f)
    });
    weighted_values(&attn, values.as_view()).iter().copied().collect()
}
