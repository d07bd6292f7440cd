//! Scores, and the attention weights that are made of them.

use attention::{Matrix, softmax_rows};

use super::tiles::{by_rows, tile_of};
use super::{Run, Side};
use crate::EmptyRow;
use crate::recipe::{
    Cap, Fill, Recipe, Scale, Similarity, Sinks, Softmax, Split, Values,
};
use crate::rows::{numbers, view};

impl Run<'_> {
    /// `q kᵀ · scale`, bounded; `[n_q, n_kv]` a head.
    pub(super) fn scores(
        &self,
        q: &[Matrix],
        k: &[Matrix],
        recipe: &Recipe,
    ) -> Option<Vec<Matrix>> {
        if q.len() != k.len() {
            return None;
        }
        let n_heads = self.intent.n_heads;
        let scores = |(i, (q, k)): (usize, (&Matrix, &Matrix))| {
            let is_square = q.nrows() == k.nrows();
            let is_transposed = recipe.similarity == Similarity::Transposed;
            if q.ncols() != k.ncols() || is_transposed && !is_square {
                return None;
            }
            let mut scores = match recipe.similarity {
                Similarity::Product => self.product(q, &k.transpose()),
                Similarity::Transposed => self.product(k, &q.transpose()),
                Similarity::Reshaped => {
                    let columns =
                        view(&numbers(std::slice::from_ref(k)), k.ncols(), k.nrows());
                    self.product(q, columns.first()?)
                }
                Similarity::Cosine => {
                    self.product(&unit_rows(q), &unit_rows(k).transpose())
                }
            };
            let scale = match self.number {
                Some(number) if number.head == Some(i % n_heads) => number.found,
                _ => self.scale(recipe.scale, k.nrows()),
            };
            match recipe.cap {
                Cap::BeforeScale => {
                    self.bound(&mut scores, Cap::Meant);
                    scores *= scale;
                }
                cap => {
                    scores *= scale;
                    self.bound(&mut scores, cap);
                }
            }
            self.move_side(&mut scores, recipe);
            Some(scores)
        };
        q.iter().zip(k).enumerate().map(scores).collect()
    }

    /// Moves the scores on one side of the diagonal, where this run is to.
    fn move_side(&self, scores: &mut Matrix, recipe: &Recipe) {
        let Some(Side { is_ahead, factor, added }) = self.side else { return };
        let first = self.intent.first_query(self.record.lengths());
        let rows = self.rows_of_heads(recipe);
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

    /// What scores should be multiplied by.
    pub(crate) fn right_scale(&self) -> f64 {
        self.scale(Scale::Meant, self.record.lengths().1)
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
    pub(super) fn attn(
        &self,
        scores: &[Matrix],
        recipe: &Recipe,
        empty: EmptyRow,
    ) -> Option<Vec<Matrix>> {
        let n = self.n_sequences(recipe);
        let each = scores.len() / n;
        let is_masked = self.is_masked(recipe);
        if is_masked && recipe.split == Split::AcrossHeads {
            return None;
        }
        let mut masked = Vec::with_capacity(scores.len());
        for (at, scores) in scores.iter().enumerate() {
            masked.push(match is_masked {
                true => self.masked(scores.clone(), (at / each, at % each), recipe)?,
                false => (scores.clone(), None),
            });
        }
        let (masked, open): (Vec<_>, Vec<_>) = masked.into_iter().unzip();
        // A mask that does not reach the first tile is left out, and nothing else.
        let blocks = |open: &Matrix<bool>| open.iter().any(|&open| !open);
        let is_alone =
            recipe.fill == Fill::FirstTileAlone && self.record.masks.added.is_none();
        if is_alone && !open.iter().flatten().any(blocks) {
            return None;
        }
        let has_sinks = self.has_sinks(recipe);
        let masked = match has_sinks {
            true => self.with_sinks(masked, each, recipe)?,
            false => masked,
        };
        let mut attn = over(recipe, masked, each)?;
        for ((attn, open), scores) in attn.iter_mut().zip(&open).zip(scores) {
            if has_sinks {
                // A sink stands behind the keys, and what is behind them is dropped.
                let n_dropped = if recipe.sinks == Sinks::Twice { 2 } else { 1 };
                *attn = attn.columns(0, attn.ncols() - n_dropped).into_owned();
            }
            self.finish(attn, open.as_ref(), recipe, (empty, scores));
        }
        if recipe.softmax == Softmax::Dropped {
            self.drop(&mut attn, recipe, empty)?;
        }
        Some(attn)
    }

    /// Scores with the score of their head's sink beside them.
    fn with_sinks(
        &self,
        scores: Vec<Matrix>,
        each: usize,
        recipe: &Recipe,
    ) -> Option<Vec<Matrix>> {
        let sinks = self.record.weights.sinks.as_ref()?;
        let with_sink = |(at, scores): (usize, Matrix)| {
            let sink = *sinks.get(at % each)?;
            let n = scores.ncols();
            Some(match recipe.sinks {
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
    fn finish(
        &self,
        attn: &mut Matrix,
        open: Option<&Matrix<bool>>,
        recipe: &Recipe,
        (empty, scores): (EmptyRow, &Matrix),
    ) {
        if let Some(open) = open {
            match recipe.fill {
                Fill::AfterSoftmax => attn.zip_apply(open, |weight, open| {
                    if !open {
                        *weight = 0.0;
                    }
                }),
                // What no key gets, a sink does.
                _ if self.has_sinks(recipe) => (),
                _ if self.blocks(recipe) => self.fill_empty(attn, open, empty, scores),
                _ => (),
            }
        }
        if recipe.scale == Scale::AfterSoftmax {
            *attn *= self.scale(Scale::Meant, attn.ncols());
        }
    }

    /// What a row without a key gets.
    fn fill_empty(
        &self,
        attn: &mut Matrix,
        open: &Matrix<bool>,
        empty: EmptyRow,
        scores: &Matrix,
    ) {
        let even = 1.0 / attn.ncols() as f64;
        // As it is kept between the sum and the softmax.
        let lowered = |score: f64| {
            let sum = score - EmptyRow::LOWERED;
            self.record.precision.round(sum, self.rounding)
        };
        for (i, row) in open.row_iter().enumerate() {
            if row.iter().any(|&open| open) {
                continue;
            }
            match empty {
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
    pub(super) fn average(
        &self,
        attn: &[Matrix],
        v: &[Matrix],
        recipe: &Recipe,
    ) -> Option<Vec<Matrix>> {
        if attn.len() != v.len() {
            return None;
        }
        let head = |(attn, v): (&Matrix, &Matrix)| {
            let (n_q, n_kv) = attn.shape();
            let tile = tile_of(recipe, v.ncols());
            let fits = match recipe.values {
                Values::Average => n_kv == v.nrows(),
                Values::FirstTile => n_kv == v.nrows() && tile < v.ncols(),
                Values::Transposed => n_q == n_kv && n_q == v.nrows(),
                Values::Unweighted => n_q == v.nrows(),
            };
            let mut head = match recipe.values {
                _ if !fits => return None,
                Values::Unweighted => v.clone(),
                Values::Transposed => self.product(&attn.transpose(), v),
                Values::Average | Values::FirstTile => self.product(attn, v),
            };
            if recipe.values == Values::FirstTile {
                head.columns_range_mut(tile..).fill(0.0);
            }
            Some(head)
        };
        attn.iter().zip(v).map(head).collect()
    }
}

/// The softmax of scores of which `each` are a sequence's.
fn over(recipe: &Recipe, scores: Vec<Matrix>, each: usize) -> Option<Vec<Matrix>> {
    let rows = |scores: Vec<Matrix>| scores.into_iter().map(softmax_rows);
    Some(match recipe.softmax {
        Softmax::OverKeys | Softmax::Dropped => rows(scores).collect(),
        Softmax::Twice => rows(rows(scores).collect()).collect(),
        Softmax::OverQueries => scores
            .into_iter()
            .map(|scores| softmax_rows(scores.transpose()).transpose())
            .collect(),
        Softmax::OverHeads => scores.chunks(each).flat_map(across).collect(),
        Softmax::OverBatch => {
            let of_head = |i: usize| scores.iter().skip(i).step_by(each).cloned();
            let heads: Vec<Vec<Matrix>> =
                (0..each).map(|i| across(&of_head(i).collect::<Vec<_>>())).collect();
            (0..scores.len()).map(|at| heads[at % each][at / each].clone()).collect()
        }
        Softmax::OverMap => scores.into_iter().map(over_all).collect(),
        Softmax::OverHeadsAndKeys => {
            scores.chunks(each).flat_map(over_heads_and_keys).collect()
        }
        Softmax::None => scores,
        Softmax::Logarithm => rows(scores).map(|attn| attn.map(f64::ln)).collect(),
        Softmax::BaseTwo => {
            let in_e = |scores: Matrix| scores * std::f64::consts::LN_2;
            rows(scores.into_iter().map(in_e).collect()).collect()
        }
        Softmax::Sigmoid => {
            let share = |s: f64| 1.0 / (1.0 + (-s).exp());
            scores.into_iter().map(|scores| scores.map(share)).collect()
        }
        _ => scores.into_iter().map(|scores| by_rows(scores, recipe)).collect(),
    })
}

/// Softmax from matrix to matrix: at each place they sum to 1.
fn across(scores: &[Matrix]) -> Vec<Matrix> {
    let (rows, columns) = scores[0].shape();
    let places = Matrix::from_fn(rows * columns, scores.len(), |at, m| scores[m][at]);
    let shares = softmax_rows(places);
    let map = |m| Matrix::from_iterator(rows, columns, shares.column(m).iter().copied());
    (0..scores.len()).map(map).collect()
}

/// All entries of a map sum to 1.
fn over_all(scores: Matrix) -> Matrix {
    let (rows, columns) = scores.shape();
    let flat = Matrix::from_row_slice(1, rows * columns, scores.as_slice());
    Matrix::from_column_slice(rows, columns, softmax_rows(flat).as_slice())
}

/// The rows of all heads, side by side, sum to 1.
fn over_heads_and_keys(heads: &[Matrix]) -> Vec<Matrix> {
    let columns: Vec<_> = heads.iter().flat_map(Matrix::column_iter).collect();
    let attn = softmax_rows(Matrix::from_columns(&columns));
    let n_kv = heads[0].ncols();
    (0..heads.len()).map(|i| attn.columns(i * n_kv, n_kv).into_owned()).collect()
}

/// Each row divided by its length.
fn unit_rows(x: &Matrix) -> Matrix {
    let mut x = x.clone();
    for mut row in x.row_iter_mut() {
        let length = row.norm();
        if length > 0.0 {
            row /= length;
        }
    }
    x
}
