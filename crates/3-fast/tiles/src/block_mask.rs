//! A mask on blocks of scores: some queries, and the keys of a range.
//!
//! [`Mask::row`] says what a mask does to the scores of one query. Here it is done to a
//! block at a time, column by column as the block lies in memory; and a block that a mask
//! leaves alone, or blocks whole, is recognised before it is computed.

use std::ops::Range;

use attention::{Mask, Matrix};

const BLOCKED: f32 = f32::NEG_INFINITY;

/// A mask as some queries see it. It passed [`Mask::check`] for one head
/// ([`Mask::of_head`]).
pub struct BlockMask<'a> {
    mask: &'a Mask,
    queries: Range<usize>,
    /// The keys there are here, of all that the mask speaks of. From the first of them on
    /// they are counted in what is asked.
    here: Range<usize>,
    /// n_q and n_kv of the mask.
    lengths: (usize, usize),
    /// Of all keys.
    visible: Range<usize>,
    /// The largest number that is added to a score of each query, if numbers are.
    largest: Vec<f64>,
}

impl<'a> BlockMask<'a> {
    /// As these queries see it, with all keys at hand.
    ///
    /// # Shapes
    /// `lengths` are n_q and n_kv of the mask.
    pub fn new(mask: &'a Mask, queries: Range<usize>, lengths: (usize, usize)) -> Self {
        Self::of_keys(mask, queries, 0..lengths.1, lengths)
    }

    /// The same where only some of the keys are at hand.
    pub(crate) fn of_keys(
        mask: &'a Mask,
        queries: Range<usize>,
        here: Range<usize>,
        lengths: (usize, usize),
    ) -> Self {
        let visible = visible_keys(mask, queries.clone(), lengths);
        let largest = Vec::new();
        let mut seen = Self { mask, queries, here, lengths, visible, largest };
        if n_added(mask) > 0 {
            seen.largest = seen.largest_of_rows();
        }
        seen
    }

    /// The keys outside of which these queries see nothing: the first to the last key that
    /// any of them may attend to, or an empty range.
    #[inline]
    pub fn visible(&self) -> Range<usize> {
        let at = |key: usize| key.clamp(self.here.start, self.here.end) - self.here.start;
        at(self.visible.start)..at(self.visible.end)
    }

    /// Whether the mask leaves this block as it is: nothing blocked, nothing added.
    #[inline]
    pub fn is_open(&self, keys: Range<usize>) -> bool {
        self.is_open_by(self.mask, self.among_all(keys))
    }

    #[inline]
    fn among_all(&self, keys: Range<usize>) -> Range<usize> {
        self.here.start + keys.start..self.here.start + keys.end
    }

    fn is_open_by(&self, mask: &Mask, keys: Range<usize>) -> bool {
        let (queries, (n_q, n_kv)) = (&self.queries, self.lengths);
        match mask {
            Mask::None => true,
            Mask::Causal => keys.end + n_q <= queries.start + n_kv + 1,
            Mask::CausalTopLeft => keys.end <= queries.start + 1,
            Mask::FirstKeys(n_open) => keys.end <= *n_open,
            Mask::Keys(open) => open[keys].iter().all(|&open| open),
            Mask::Allowed(allowed) => {
                keys.clone().all(|j| part(allowed, queries, j).iter().all(|&open| open))
            }
            Mask::Additive(matrix) => {
                keys.clone().all(|j| part(matrix, queries, j) == self.largest)
            }
            Mask::All(masks) if n_added(mask) <= 1 => {
                masks.iter().all(|mask| self.is_open_by(mask, keys.clone()))
            }
            Mask::PerHead(masks) => self.is_open_by(&masks[0], keys),
            Mask::All(_) => keys.clone().all(|j| {
                let mut rows = queries.clone().zip(&self.largest);
                rows.all(|(i, &largest)| self.added(i, j) == Some(largest))
            }),
        }
    }

    /// The block with this mask on it: blocked scores are −∞, whatever they were before (a
    /// NaN too), and what is added is added `factor` times.
    ///
    /// # Shapes
    /// The score of query `i` and key `j` is
    /// `scores[(j − keys.start) · stride + (i − queries.start)]`.
    #[inline]
    pub fn apply(
        &self,
        scores: &mut [f32],
        stride: usize,
        keys: Range<usize>,
        factor: f32,
    ) {
        self.apply_one(self.mask, scores, stride, self.among_all(keys), factor);
    }

    fn apply_one(
        &self,
        mask: &Mask,
        scores: &mut [f32],
        stride: usize,
        keys: Range<usize>,
        factor: f32,
    ) {
        let (queries, (n_q, n_kv)) = (&self.queries, self.lengths);
        let n_queries = queries.len();
        let with_added =
            |score, added, largest| with_added(score, added, largest, factor);
        let columns =
            scores.chunks_mut(stride.max(1)).map(|column| &mut column[..n_queries]);
        let columns = keys.clone().zip(columns);
        match mask {
            Mask::None => {}
            Mask::Causal => columns.for_each(|(j, column)| {
                let first_open = (j + n_q).saturating_sub(n_kv + queries.start);
                column[..first_open.min(n_queries)].fill(BLOCKED);
            }),
            Mask::CausalTopLeft => columns.for_each(|(j, column)| {
                let first_open = j.saturating_sub(queries.start);
                column[..first_open.min(n_queries)].fill(BLOCKED);
            }),
            Mask::FirstKeys(n_open) => columns
                .filter(|(j, _)| j >= n_open)
                .for_each(|(_, column)| column.fill(BLOCKED)),
            Mask::Keys(open) => columns
                .filter(|(j, _)| !open[*j])
                .for_each(|(_, column)| column.fill(BLOCKED)),
            Mask::Allowed(allowed) => columns.for_each(|(j, column)| {
                for (score, &open) in column.iter_mut().zip(part(allowed, queries, j)) {
                    *score = if open { *score } else { BLOCKED };
                }
            }),
            Mask::Additive(matrix) => columns.for_each(|(j, column)| {
                let added = part(matrix, queries, j).iter().zip(&self.largest);
                for (score, (&added, &largest)) in column.iter_mut().zip(added) {
                    *score = with_added(*score, added, largest);
                }
            }),
            Mask::All(masks) if n_added(mask) <= 1 => {
                for mask in masks {
                    self.apply_one(mask, scores, stride, keys.clone(), factor);
                }
            }
            Mask::PerHead(masks) => {
                self.apply_one(&masks[0], scores, stride, keys, factor);
            }
            Mask::All(_) => columns.for_each(|(j, column)| {
                let rows = queries.clone().zip(&self.largest);
                for ((i, &largest), score) in rows.zip(column) {
                    let added = self.added(i, j).unwrap_or(f64::NEG_INFINITY);
                    *score = with_added(*score, added, largest);
                }
            }),
        }
    }

    /// As [`Mask::largest_of_row`], of each query: the matrix is read as it lies in memory,
    /// and only a number that would be the largest is asked whether it counts.
    fn largest_of_rows(&self) -> Vec<f64> {
        let Some(matrix) = the_only_matrix(self.mask) else {
            let of_row = |i| self.mask.largest_of_row(i, self.lengths);
            return self.queries.clone().map(of_row).collect();
        };
        let mut all = vec![f64::NEG_INFINITY; self.queries.len()];
        for j in self.visible.clone() {
            let added = part(matrix, &self.queries, j);
            for ((i, largest), &added) in self.queries.clone().zip(&mut all).zip(added) {
                if added > *largest && self.added(i, j) == Some(added) {
                    *largest = added;
                }
            }
        }
        all.iter().map(|&x| if x.is_finite() { x } else { 0.0 }).collect()
    }

    fn added(&self, i: usize, j: usize) -> Option<f64> {
        self.mask.added((i, j), self.lengths)
    }
}

fn visible_keys(
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
        Mask::None => 0..n_kv,
    }
}

/// A score with what a mask adds to it, less the largest of its row, so many times.
#[inline]
fn with_added(score: f32, added: f64, largest: f64, factor: f32) -> f32 {
    let relative = ((added - largest) * f64::from(factor)) as f32;
    if added.is_finite() { score + relative } else { BLOCKED }
}

/// What a matrix says about these queries and key `j`: contiguous.
fn part<'a, T>(matrix: &'a Matrix<T>, queries: &Range<usize>, j: usize) -> &'a [T] {
    &matrix.as_slice()[j * matrix.nrows()..][queries.clone()]
}

/// How many matrices are added to a score; where several are, they are summed in f64.
fn n_added(mask: &Mask) -> usize {
    match mask {
        Mask::None | Mask::Causal | Mask::CausalTopLeft => 0,
        Mask::FirstKeys(_) | Mask::Keys(_) | Mask::Allowed(_) => 0,
        Mask::Additive(_) => 1,
        Mask::All(masks) => masks.iter().map(n_added).sum(),
        Mask::PerHead(masks) => n_added(&masks[0]),
    }
}

/// The matrix that is added to a score, where it is one.
fn the_only_matrix(mask: &Mask) -> Option<&Matrix> {
    match mask {
        Mask::Additive(matrix) => Some(matrix),
        Mask::All(masks) if n_added(mask) == 1 => masks.iter().find_map(the_only_matrix),
        Mask::PerHead(masks) => the_only_matrix(&masks[0]),
        Mask::None | Mask::Causal | Mask::CausalTopLeft => None,
        Mask::FirstKeys(_) | Mask::Keys(_) | Mask::Allowed(_) | Mask::All(_) => None,
    }
}

#[cfg(test)]
mod tests;
