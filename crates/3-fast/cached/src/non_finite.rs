//! By the definition: the way round for numbers that are not finite, as in `tiles`, and rows
//! of maps.

use std::ops::Range;

use attention::{Matrix, softmax_rows, weighted_values};
use tiles::panels::{n_groups, round_up};
use tiles::tile::ROWS;

use crate::{GroupedHeads, PackedCache, Scoring};

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
    let panels = cache.values(head / heads.group()).floats();
    let of_keys = cache.keys(head / heads.group()).floats();
    let attn = shares(q, head, heads, &of_keys, keys.clone(), scoring);
    let values = Matrix::from_fn(keys.len(), heads.d_v(), |j, f| {
        let key = keys.start + j;
        panels[(key / ROWS * round_up(heads.d_v()) + f) * ROWS + key % ROWS]
    });
    weighted_values(&attn, values.as_view()).iter().copied().collect()
}

/// The shares that one query of head `head` gives some keys, `[1, n_keys]`; `panels` are those
/// of the keys that it reads, as [`floats`](crate::panels::Panels::floats) gives them.
pub(crate) fn shares(
    q: &[f32],
    head: usize,
    heads: GroupedHeads,
    panels: &[f32],
    keys: Range<usize>,
    scoring: &Scoring,
) -> Matrix<f32> {
    let panels = panels.chunks_exact(round_up(heads.d_k()) * ROWS);
    let mut products = vec![0f32; n_groups(keys.end) * ROWS];
    for (products, panel) in products.chunks_exact_mut(ROWS).zip(panels) {
        for (q, lanes) in q.iter().zip(panel.chunks_exact(ROWS)) {
            products.iter_mut().zip(lanes).for_each(|(sum, k)| *sum += q * k);
        }
    }
    let scale = scoring.scale(heads);
    let score = |product: &f32| {
        let score = product * scale;
        scoring.soft_cap.map_or(score, |cap| cap * (score / cap).tanh())
    };
    let sink = scoring.sink.as_ref().map(|sink| sink[head]);
    let scores = products[keys.clone()].iter().map(score).chain(sink);
    let n = keys.len() + usize::from(sink.is_some());
    let attn = softmax_rows(Matrix::from_row_iterator(1, n, scores));
    attn.columns(0, keys.len()).into_owned() // the sink has no value
}
