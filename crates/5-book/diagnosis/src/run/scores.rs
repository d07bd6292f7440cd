//! Scores, and the attention weights that are made of them.

use attention::{Matrix, softmax_rows};

use super::{Forward, Side};
use crate::EmptyRow;
use crate::recipe::{Cap, Fill, Scale, Similarity, Sinks, Softmax, Split, Values};

impl Forward<'_> {
    /// `q kᵀ · scale`, bounded; `[n_q, n_kv]` a head.
    pub(super) fn scores(&self, q: &[Matrix], k: &[Matrix]) -> Option<Vec<Matrix>> {
        if q.len() != k.len() {
            return None;
        }
        let n_heads = self.intent.n_heads;
        let scores = |(i, (q, k)): (usize, (&Matrix, &Matrix))| {
            let is_square = q.nrows() == k.nrows();
            let is_transposed = self.recipe.similarity == Similarity::Transposed;
            if q.ncols() != k.ncols() || is_transposed && !is_square {
                return None;
            }
            let mut scores = match self.recipe.similarity {
                Similarity::Product => self.product(q, &k.transpose()),
                Similarity::Transposed => self.product(k, &q.transpose()),
                Similarity::Reshaped => {
                    let (n, d, rows) = (k.nrows(), k.ncols(), k.transpose());
                    self.product(q, &Matrix::from_row_slice(d, n, rows.as_slice()))
                }
                Similarity::Cosine => {
                    self.product(&unit_rows(q), &unit_rows(k).transpose())
                }
            };
            let scale = match self.run.number {
                Some(number) if number.head == Some(i % n_heads) => number.found,
                _ => self.scale(self.recipe.scale, k.nrows()),
            };
            let is_first = self.recipe.cap == Cap::BeforeScale;
            if is_first {
                self.bound(&mut scores, Cap::Meant);
            }
            scores *= scale;
            if !is_first {
                self.bound(&mut scores, self.recipe.cap);
            }
            self.move_side(&mut scores);
            Some(scores)
        };
        q.iter().zip(k).enumerate().map(scores).collect()
    }

    /// Moves the scores on one side of the diagonal, where this run is to.
    fn move_side(&self, scores: &mut Matrix) {
        let Some(Side { is_ahead, factor, added }) = self.run.side else { return };
        let first = self.intent.first_query(self.record.lengths());
        let rows = self.rows_of_heads();
        let (n_q, n_kv) = scores.shape();
        for (r, c) in (0..n_q).flat_map(|r| (0..n_kv).map(move |c| (r, c))) {
            let query = rows.map_or(r, |rows| rows[r]) as isize + first;
            let ahead = c as isize - query;
            if ahead != 0 && (ahead > 0) == is_ahead {
                scores[(r, c)] = scores[(r, c)] * factor + added;
            }
        }
    }

    /// What scores are multiplied by.
    pub(super) fn scale(&self, scale: Scale, n_kv: usize) -> f64 {
        let (d_k, h, _) = self.sizes();
        let d_model = self.record.inputs[0][0].ncols();
        let root = |x: usize| 1.0 / (x as f64).sqrt();
        match scale {
            Scale::Meant => self.intent.scale.unwrap_or(root(d_k)),
            Scale::None | Scale::AfterSoftmax => 1.0,
            Scale::RootOfModel => root(d_model),
            Scale::Width => 1.0 / d_k as f64,
            Scale::Model => 1.0 / d_model as f64,
            Scale::Multiplied => (d_k as f64).sqrt(),
            Scale::RootOfHeads => root(h),
            Scale::RootOfKeys => root(n_kv),
            Scale::QuarterRoot => root(d_k).sqrt(),
            Scale::RootOfWidth => root(d_k),
        }
    }

    pub(super) fn bound(&self, scores: &mut Matrix, choice: Cap) {
        let Some(cap) = self.intent.cap else { return };
        scores.apply(|s| {
            *s = match choice {
                Cap::Meant | Cap::BeforeScale => cap * (*s / cap).tanh(),
                Cap::None | Cap::AfterMask => *s,
                Cap::WithoutProduct => (*s / cap).tanh(),
                Cap::WithoutQuotient => cap * s.tanh(),
                Cap::ScoreForCap => *s * (*s / cap).tanh(),
            }
        });
    }

    /// Attention weights, `[n_q, n_kv]` a head.
    pub(super) fn attn(&self, scores: &[Matrix]) -> Option<Vec<Matrix>> {
        let n = self.n_sequences();
        let each = scores.len() / n;
        let is_masked = self.is_masked();
        if is_masked && self.recipe.split == Split::AcrossHeads {
            return None;
        }
        let masked = |(at, scores): (usize, &Matrix)| match is_masked {
            true => self.masked(scores.clone(), (at / each, at % each)),
            false => Some((scores.clone(), None)),
        };
        let masked = scores.iter().enumerate().map(masked).collect::<Option<Vec<_>>>()?;
        let (masked, open): (Vec<_>, Vec<_>) = masked.into_iter().unzip();
        // A mask that does not reach the first tile is left out, and nothing else.
        let blocks = |open: &Matrix<bool>| open.iter().any(|&open| !open);
        let is_alone =
            self.recipe.fill == Fill::FirstTileAlone && self.record.masks.added.is_none();
        if is_alone && !open.iter().flatten().any(blocks) {
            return None;
        }
        let has_sinks = self.has_sinks();
        let masked = if has_sinks { self.with_sinks(masked, each)? } else { masked };
        let mut attn = self.softmax(masked, each);
        for ((attn, open), scores) in attn.iter_mut().zip(&open).zip(scores) {
            if has_sinks {
                // A sink stands behind the keys, and what is behind them is dropped.
                let n_dropped = if self.recipe.sinks == Sinks::Twice { 2 } else { 1 };
                *attn = attn.columns(0, attn.ncols() - n_dropped).into_owned();
            }
            self.finish(attn, open.as_ref(), scores);
        }
        if self.recipe.softmax == Softmax::Dropped {
            self.drop(&mut attn)?;
        }
        Some(attn)
    }

    /// Scores with the score of their head's sink beside them.
    fn with_sinks(&self, scores: Vec<Matrix>, each: usize) -> Option<Vec<Matrix>> {
        let sinks = self.record.weights.sinks.as_ref()?;
        let with_sink = |(at, scores): (usize, Matrix)| {
            let sink = *sinks.get(at % each)?;
            let n = scores.ncols();
            Some(match self.recipe.sinks {
                Sinks::Scaled => {
                    scores.insert_column(n, sink * self.scale(Scale::Meant, n))
                }
                Sinks::LastDropped => scores.insert_column(0, sink),
                Sinks::Twice => scores.insert_columns(n, 2, sink),
                Sinks::Meant | Sinks::None => scores.insert_column(n, sink),
            })
        };
        scores.into_iter().enumerate().map(with_sink).collect()
    }

    /// What is done to attention weights after the softmax, and rows that may attend to
    /// nothing.
    fn finish(&self, attn: &mut Matrix, open: Option<&Matrix<bool>>, scores: &Matrix) {
        if let Some(open) = open {
            match self.recipe.fill {
                Fill::AfterSoftmax => attn.zip_apply(open, |weight, open| {
                    if !open {
                        *weight = 0.0;
                    }
                }),
                // What no key gets, a sink does.
                _ if self.blocks() && !self.has_sinks() => {
                    self.fill_empty(attn, open, scores);
                }
                _ => (),
            }
        }
        if self.recipe.scale == Scale::AfterSoftmax {
            *attn *= self.scale(Scale::Meant, attn.ncols());
        }
    }

    /// What a row without a key gets.
    fn fill_empty(&self, attn: &mut Matrix, open: &Matrix<bool>, scores: &Matrix) {
        let even = 1.0 / attn.ncols() as f64;
        // As it is kept between the sum and the softmax.
        let lowered = |score: f64| {
            let sum = score - EmptyRow::LOWERED;
            self.record.precision.round(sum, self.run.rounding)
        };
        for (i, row) in open.row_iter().enumerate() {
            if row.iter().any(|&open| open) {
                continue;
            }
            match self.empty {
                EmptyRow::Zeros => attn.row_mut(i).fill(0.0),
                EmptyRow::Even => attn.row_mut(i).fill(even),
                EmptyRow::NaN => attn.row_mut(i).fill(f64::NAN),
                EmptyRow::Unmasked => {
                    let row = scores.rows(i, 1).map(lowered);
                    attn.rows_mut(i, 1).copy_from(&softmax_rows(row));
                }
            }
        }
    }

    /// `attn V`, `[n_q, d_v]` a head.
    pub(super) fn average(&self, attn: &[Matrix], v: &[Matrix]) -> Option<Vec<Matrix>> {
        if attn.len() != v.len() {
            return None;
        }
        let head = |(attn, v): (&Matrix, &Matrix)| {
            let ((n_q, n_kv), n_v) = (attn.shape(), v.nrows());
            let tile = self.tile(v.ncols());
            match self.recipe.values {
                Values::Average if n_kv == n_v => Some(self.product(attn, v)),
                Values::FirstTile if n_kv == n_v && tile < v.ncols() => {
                    let mut head = self.product(attn, v);
                    head.columns_range_mut(tile..).fill(0.0);
                    Some(head)
                }
                Values::Transposed if n_q == n_kv && n_q == n_v => {
                    Some(self.product(&attn.transpose(), v))
                }
                Values::Unweighted if n_q == n_v => Some(v.clone()),
                _ => None,
            }
        };
        attn.iter().zip(v).map(head).collect()
    }
}

/// Each row divided by its length.
fn unit_rows(x: &Matrix) -> Matrix {
    let mut x = x.clone();
    for mut row in x.row_iter_mut() {
        row.try_normalize_mut(0.0);
    }
    x
}
