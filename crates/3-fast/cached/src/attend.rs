//! One query per head and sequence, on caches: who takes which keys, and what comes of it.

use std::ops::Range;

use attention::{Error, Matrix, Result};
use rayon::prelude::*;
use tiles::Instructions;
use tiles::tile::ROWS;

use crate::cache::Row;
use crate::panel::{self, HeadState, Run, parts};
use crate::tiled::Tiles;
use crate::{GroupedHeads, PackedCache, Scoring, non_finite};

/// How many runs of keys a thread has to do, where there is enough to do.
const RUNS_A_THREAD: usize = 8;

/// Panels a run, at least and at most. A short one is not worth handing out; a long one is
/// not worth cutting less.
const PANELS: [usize; 2] = [8, 64];

/// Up to so many panels in all, a thread has read them before another is awake.
const ALONE: usize = 24;

/// Attention of query heads that share keys and values, on caches.
///
/// ```
/// use attention::Matrix;
/// use cached::{GroupedAttention, GroupedHeads, PackedCache, Scoring};
///
/// let heads = GroupedHeads::new([2, 1], [1, 1])?;
/// let mut cache = PackedCache::new(heads);
/// let keys = Matrix::from_row_slice(2, 1, &[0.0, 3f32.ln()]);
/// cache.append(&keys, &Matrix::from_row_slice(2, 1, &[0.0, 1.0]))?;
///
/// let mut attention = GroupedAttention::new(heads, Scoring::default())?;
/// let (q, mut out) = (Matrix::from_row_slice(1, 2, &[2.0, 1.0]), Matrix::zeros(1, 2));
/// attention.one_token(&q, &[&cache], &mut out)?;
/// assert!((out[(0, 0)] - 0.9).abs() < 1e-6); // 9 : 1, since exp(2 ln 3) = 9
/// assert!((out[(0, 1)] - 0.75).abs() < 1e-6); // 3 : 1
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Source
/// Dao et al. 2023, "Flash-Decoding for long-context inference": a long cache is cut among
/// threads. Ainslie et al. 2023 for the groups.
#[derive(Debug)]
pub struct GroupedAttention {
    pub(crate) heads: GroupedHeads,
    pub(crate) scoring: Scoring,
    pub(crate) instructions: Instructions,
    /// Queries as runs read them, `[row]` of [`parts`] of each group.
    q: Vec<f32>,
    runs: Vec<f32>,
    pub(crate) tiles: Tiles,
}

impl GroupedAttention {
    /// Heads of these sizes, for the widest instructions of this processor.
    ///
    /// # Errors
    /// What does not fit in `scoring`, with its numbers.
    pub fn new(heads: GroupedHeads, scoring: Scoring) -> Result<Self> {
        Self::with_instructions(heads, scoring, Instructions::best())
    }

    /// The same for other instructions.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_instructions(
        heads: GroupedHeads,
        scoring: Scoring,
        instructions: Instructions,
    ) -> Result<Self> {
        scoring.check(heads)?;
        let (q, runs, tiles) = (Vec::new(), Vec::new(), Tiles::default());
        Ok(Self { heads, scoring, instructions, q, runs, tiles })
    }

    /// From now on these instructions compute it.
    pub fn compute_with(&mut self, instructions: Instructions) {
        self.instructions = instructions;
    }

    /// What differs in its scores.
    pub fn scoring(&self) -> &Scoring {
        &self.scoring
    }

    /// One new token of each sequence: its queries meet all keys of its own cache, or those
    /// in the window. Its own key is the last of them.
    ///
    /// # Shapes
    /// `q` is `[n_sequences, n_heads · d_k]`, not scaled; there are as many caches, of any
    /// lengths; `out` is `[n_sequences, n_heads · d_v]`.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Shape`]; [`Error::EmptySequence`] for an empty cache;
    /// `out` is then as it was.
    pub fn one_token(
        &mut self,
        q: &Matrix<f32>,
        caches: &[&PackedCache],
        out: &mut Matrix<f32>,
    ) -> Result<()> {
        Error::expect_length("the list of caches", q.nrows(), caches.len())?;
        self.check(q, caches, out)?;
        let rows: Vec<_> = caches
            .iter()
            .map(|cache| Row { cache, keys: self.scoring.seen(cache.n_tokens()) })
            .collect();
        self.each_row(q, &rows, out);
        Ok(())
    }

    pub(crate) fn check(
        &self,
        q: &Matrix<f32>,
        caches: &[&PackedCache],
        out: &Matrix<f32>,
    ) -> Result<()> {
        let (heads, n) = (self.heads, q.nrows());
        Error::expect_shape("q", (n, heads.n_heads() * heads.d_k()), q.shape())?;
        Error::expect_shape("out", (n, heads.n_heads() * heads.d_v()), out.shape())?;
        for cache in caches {
            let (d_k, d_v) = (cache.heads().d_k(), cache.heads().d_v());
            let shape = (cache.n_tokens(), cache.heads().n_kv_heads() * d_k);
            let expected = (cache.n_tokens(), heads.n_kv_heads() * heads.d_k());
            Error::expect_shape("the keys of a cache", expected, shape)?;
            let width = cache.heads().n_kv_heads() * d_v;
            let expected = (cache.n_tokens(), heads.n_kv_heads() * heads.d_v());
            Error::expect_shape("the values of a cache", expected, (shape.0, width))?;
            Error::expect_length(
                "the list of a cache's heads",
                heads.n_kv_heads(),
                cache.heads().n_kv_heads(),
            )?;
            if cache.n_tokens() == 0 {
                return Err(Error::EmptySequence { what: "a cache", shape });
            }
        }
        Ok(())
    }

    /// Each row of queries on its own keys.
    pub(crate) fn each_row(
        &mut self,
        q: &Matrix<f32>,
        rows: &[Row<'_>],
        out: &mut Matrix<f32>,
    ) {
        self.pack(q);
        let heads = self.heads;
        let (group, d_k, d_v) = (heads.group(), heads.d_k(), heads.d_v());
        let pieces = pieces(rows, heads.n_kv_heads());
        let len = panel::memory(group, d_v);
        if self.runs.len() < pieces.len() * len {
            self.runs.resize(pieces.len() * len, 0.0);
        }
        let (q_packed, instructions) = (&self.q, self.instructions);
        let cap = self.scoring.cap().map(|cap| cap * std::f32::consts::LOG2_E);
        let run = |(piece, memory): (&Piece, &mut [f32])| {
            let cache = rows[piece.row].cache;
            let first = (piece.row * heads.n_heads() + piece.kv_head * group) * d_k;
            let q = &q_packed[first..][..group * d_k];
            let (k, v) = (cache.keys(piece.kv_head), cache.values(piece.kv_head));
            let keys = piece.keys.clone();
            instructions.run(Run { group, d_k, d_v, q, k, v, keys, cap, memory });
        };
        if pieces.iter().map(|piece| panels(&piece.keys).len()).sum::<usize>() <= ALONE {
            pieces.iter().zip(self.runs.chunks_exact_mut(len)).for_each(run);
        } else {
            let memories = self.runs.par_chunks_exact_mut(len);
            pieces.par_iter().zip(memories).for_each(run);
        }
        let mut memories = self.runs.chunks_exact(len);
        for of_group in pieces.chunk_by(|a, b| a.is_with(b)) {
            let (row, kv_head) = (of_group[0].row, of_group[0].kv_head);
            let runs: Vec<_> = memories.by_ref().take(of_group.len()).collect();
            for r in 0..group {
                let head = kv_head * group + r;
                let seen: Vec<_> =
                    runs.iter().map(|m| HeadState::of(m, r, d_v)).collect();
                let mut merged = merge(&seen, self.scoring.sink(head));
                if !merged.iter().all(|x| x.is_finite()) {
                    let columns = q.columns(head * d_k, d_k);
                    let q: Vec<f32> = columns.row(row).iter().copied().collect();
                    let Row { cache, ref keys } = rows[row];
                    merged =
                        non_finite::output(&q, head, cache, keys.clone(), &self.scoring);
                }
                for (f, x) in merged.into_iter().enumerate() {
                    out[(row, head * d_v + f)] = x;
                }
            }
        }
    }

    /// Queries, scaled, in the order in which a run reads them.
    fn pack(&mut self, q: &Matrix<f32>) {
        let (heads, factor) = (self.heads, self.scoring.query_factor(self.heads));
        self.q.resize(q.len(), 0.0);
        let (group, d_k) = (heads.group(), heads.d_k());
        let mut to = self.q.iter_mut();
        for row in q.row_iter() {
            for first_of_group in (0..heads.n_heads()).step_by(group) {
                for (first, n) in parts(group) {
                    for f in 0..d_k {
                        let of = |r| row[(first_of_group + first + r) * d_k + f];
                        let numbers = (0..n).map(of);
                        numbers.zip(&mut to).for_each(|(x, to)| *to = x * factor);
                    }
                }
            }
        }
    }
}

/// What one thread does at a time: the queries of a group on some of their keys.
struct Piece {
    row: usize,
    kv_head: usize,
    keys: Range<usize>,
}

impl Piece {
    /// Whether both are of the same queries.
    fn is_with(&self, other: &Self) -> bool {
        (self.row, self.kv_head) == (other.row, other.kv_head)
    }
}

/// The panels that hold these keys.
fn panels(keys: &Range<usize>) -> Range<usize> {
    keys.start / ROWS..keys.end.div_ceil(ROWS)
}

/// All pieces, those of one group together: runs of whole panels.
fn pieces(rows: &[Row<'_>], n_kv_heads: usize) -> Vec<Piece> {
    let all: usize = rows.iter().map(|row| panels(&row.keys).len() * n_kv_heads).sum();
    let run = all.div_ceil(RUNS_A_THREAD * rayon::current_num_threads());
    let run = run.clamp(PANELS[0], PANELS[1]);
    let mut pieces = Vec::new();
    for (row, Row { keys, .. }) in rows.iter().enumerate() {
        for kv_head in 0..n_kv_heads {
            for first in panels(keys).step_by(run) {
                let start = keys.start.max(first * ROWS);
                let end = keys.end.min((first + run) * ROWS);
                pieces.push(Piece { row, kv_head, keys: start..end });
            }
        }
    }
    pieces
}

/// One softmax from those of the runs, and the sink's share gone: each run's sums are those
/// of the whole, but for the factor `2^(its reference − the largest)`.
fn merge(runs: &[HeadState<'_>], sink: Option<f32>) -> Vec<f32> {
    let references = runs.iter().map(|run| run.reference).chain(sink);
    let largest = references.fold(f32::NEG_INFINITY, f32::max);
    let factors = runs.iter().map(|run| (run.reference - largest).exp2());
    let factors: Vec<f32> = factors.collect();
    let sums = runs.iter().zip(&factors).map(|(run, factor)| run.sum * factor);
    let sum: f32 = sums.chain(sink.map(|sink| (sink - largest).exp2())).sum();
    let d_v = runs.first().map_or(0, |run| run.out.len());
    let of = |f| {
        let terms = runs.iter().zip(&factors).map(|(run, factor)| run.out[f] * factor);
        terms.sum::<f32>() / sum
    };
    (0..d_v).map(of).collect()
}
