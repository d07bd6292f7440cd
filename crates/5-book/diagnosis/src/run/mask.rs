//! Which query may attend to which key, and what becomes of the scores of the others.

use attention::Matrix;

use super::Forward;
use crate::recipe::{Axes, Cap, Causal, Fill, Masking, Scale, Sinks, Slopes, Window};

impl Forward<'_> {
    /// Whether there is any mask by this recipe.
    pub(super) fn is_masked(&self) -> bool {
        !self.record.masks.is_empty()
            || self.intent.causal.is_some()
            || self.intent.window.is_some()
            || self.intent.slopes.is_some()
            || self.recipe.causal == Causal::Unmeant
            || self.recipe.fill == Fill::LastTileToo
            || self.recipe.cap == Cap::AfterMask
    }

    /// Whether a sink takes what keys do not.
    pub(super) fn has_sinks(&self) -> bool {
        self.record.weights.sinks.is_some() && self.recipe.sinks != Sinks::None
    }

    /// Whether some query may attend to no key, by this recipe.
    pub(crate) fn has_empty_rows(&self) -> bool {
        if !self.is_masked()
            || !self.blocks()
            || self.recipe.axes == Axes::Exchanged
            || self.has_sinks()
        {
            return false;
        }
        let lengths = self.record.lengths();
        let has_empty_row = |s, i| {
            let open = self.open(s, i, lengths);
            open.is_some_and(|it| it.row_iter().any(|row| row.iter().all(|&open| !open)))
        };
        let h = self.intent.n_heads;
        (0..self.run.sequences.len()).any(|s| (0..h).any(|i| has_empty_row(s, i)))
    }

    /// Whether blocked keys have a score of −∞.
    pub(super) fn blocks(&self) -> bool {
        use Fill::{FirstTileAlone, LastTileToo, MinusInfinity, Opposite};
        let is_capped = self.recipe.cap == Cap::AfterMask && self.intent.cap.is_some();
        let fill = self.recipe.fill;
        !is_capped
            && matches!(fill, MinusInfinity | Opposite | LastTileToo | FirstTileAlone)
    }

    /// Scores with the mask on them, and the mask; nothing where shapes do not fit.
    pub(super) fn masked(
        &self,
        mut scores: Matrix,
        (s, i): (usize, usize),
    ) -> Option<(Matrix, Option<Matrix<bool>>)> {
        let rows = self.rows_of_heads();
        let n_q = rows.map_or(scores.nrows(), |_| self.record.lengths().0);
        let lengths = (n_q, scores.ncols());
        let mut open = self.open(s, i, lengths)?;
        if let Some(rows) = rows {
            open = open.select_rows(rows);
        }
        if let Some(slope) = self.slope(i) {
            let places = |role, n| self.places(s, role, n);
            let (of_queries, of_keys) = (places(0, lengths.0), places(1, lengths.1));
            let row = |r: usize| of_queries[rows.map_or(r, |rows| rows[r])];
            let loses = |r: usize, c: usize| slope * (row(r) - of_keys[c]).abs();
            scores -= Matrix::from_fn(scores.nrows(), scores.ncols(), loses);
        }
        if let Some(added) = &self.record.masks.added {
            let added =
                added.get(self.mask_at(added.len(), self.recipe.pairs, (s, i))?)?;
            let mut added = match self.recipe.pairs {
                Masking::None => Matrix::zeros(lengths.0, lengths.1),
                Masking::FirstHead if i > 0 => Matrix::zeros(lengths.0, lengths.1),
                Masking::Transposed => added.transpose(),
                Masking::Opposite => opposite(added),
                Masking::BeforeScale => added * self.scale(Scale::Meant, lengths.1),
                _ => added.clone(),
            };
            if added.shape() != lengths {
                return None;
            }
            if self.recipe.fill == Fill::FirstTileAlone {
                let tile = self.tile(lengths.1).min(lengths.1);
                added.columns_range_mut(tile..).fill(0.0);
            }
            scores += rows.map_or_else(|| added.clone(), |rows| added.select_rows(rows));
        }
        scores.zip_apply(&open, |score, open| {
            *score = match (self.recipe.fill, open) {
                (Fill::OpenPlusOne, true) | (Fill::BlockedPlusOne, false) => *score + 1.0,
                (_, true) => *score,
                (Fill::MinusInfinity | Fill::Opposite, false) => f64::NEG_INFINITY,
                (Fill::LastTileToo | Fill::FirstTileAlone, false) => f64::NEG_INFINITY,
                (Fill::MinusNano, false) => -1e-9,
                (Fill::Zero, false) => 0.0,
                (Fill::MinusTenThousand, false) => -1e4,
                (Fill::MinusOne, false) => -1.0,
                (Fill::Large, false) => 1e9,
                (Fill::OpenPlusOne | Fill::AfterSoftmax, false) => *score,
            }
        });
        if self.recipe.cap == Cap::AfterMask {
            self.bound(&mut scores, Cap::Meant);
        }
        Some((scores, Some(open)))
    }

    /// Which query of this sequence may attend to which key in this head.
    fn open(&self, s: usize, i: usize, lengths: (usize, usize)) -> Option<Matrix<bool>> {
        let (masks, (n_q, n_kv)) = (&self.record.masks, lengths);
        if self.recipe.axes == Axes::Exchanged && !masks.is_empty() {
            return None;
        }
        let mut open = self.causal(lengths);
        if let Some(window) = self.window(lengths) {
            open.zip_apply(&window, |a, b| *a &= b);
        }
        if let Some(padding) = &masks.padding {
            let choice = self.recipe.padding;
            let list = padding.get(self.mask_at(padding.len(), choice, (s, i))?)?;
            let rows = if choice == Masking::Transposed { n_kv } else { n_q };
            let mask = Matrix::from_fn(rows, list.len(), |_, c| list[c]);
            close(&mut open, mask, choice, i)?;
        }
        if let Some(pairs) = &masks.pairs {
            let choice = self.recipe.pairs;
            let mask = pairs.get(self.mask_at(pairs.len(), choice, (s, i))?)?;
            close(&mut open, mask.clone(), choice, i)?;
        }
        let tile = self.tile(n_kv).min(n_kv);
        match self.recipe.fill {
            Fill::Opposite => open.apply(|open| *open = !*open),
            Fill::LastTileToo => open.columns_range_mut(n_kv - n_kv % tile..).fill(false),
            Fill::FirstTileAlone => open.columns_range_mut(tile..).fill(true),
            _ => (),
        }
        Some(open)
    }

    /// Which keys a causal mask leaves, or all.
    fn causal(&self, (n_q, n_kv): (usize, usize)) -> Matrix<bool> {
        let choice = self.recipe.causal;
        let is_causal = match choice {
            Causal::None => false,
            Causal::Unmeant => true,
            _ => self.intent.causal.is_some(),
        };
        if !is_causal {
            return Matrix::from_element(n_q, n_kv, true);
        }
        let past = match (self.intent.first_query((n_q, n_kv)), choice) {
            (_, Causal::Unmeant) => 0,
            (0, Causal::OtherCorner) => n_kv as isize - n_q as isize,
            (_, Causal::OtherCorner) => 0,
            (first, _) => first,
        };
        Matrix::from_fn(n_q, n_kv, |i, j| {
            let ahead = j as isize - i as isize - past;
            match choice {
                Causal::WithoutItself => ahead < 0,
                Causal::OneAhead => ahead <= 1,
                Causal::Future => ahead >= 0,
                _ => ahead <= 0,
            }
        })
    }

    /// Which keys a window leaves, if there is one.
    fn window(&self, (n_q, n_kv): (usize, usize)) -> Option<Matrix<bool>> {
        let width = self.intent.window? as isize;
        let first = self.intent.first_query((n_q, n_kv));
        let (width, first) = match self.recipe.window {
            Window::None => return None,
            Window::Wider => (width + 1, first),
            Window::Narrower => (width - 1, first),
            Window::FromZero => (width, 0),
            Window::Meant => (width, first),
        };
        let is_causal = self.intent.causal.is_some();
        Some(Matrix::from_fn(n_q, n_kv, |i, j| {
            let behind = i as isize + first - j as isize;
            behind < width && (is_causal || -behind < width)
        }))
    }

    /// What a score of this head loses per token of distance.
    fn slope(&self, i: usize) -> Option<f64> {
        let slopes = self.intent.slopes.as_ref()?;
        let h = slopes.len();
        let power = |i: usize| (-8.0 * i as f64 / h as f64).exp2();
        Some(match self.recipe.slopes {
            Slopes::Meant => *slopes.get(i)?,
            Slopes::None => return None,
            Slopes::Opposite => -*slopes.get(i)?,
            Slopes::Reversed => *slopes.get((h - 1).checked_sub(i)?)?,
            Slopes::AnyPower => power(i + 1),
            Slopes::FromZero => power(i),
            Slopes::FirstHalf => *slopes.get(i % h.div_ceil(2))?,
            Slopes::Sorted => {
                let mut sorted = slopes.clone();
                sorted.sort_by(|a, b| b.total_cmp(a));
                *sorted.get(i)?
            }
        })
    }

    /// Which of `n` masks is this head's.
    fn mask_at(
        &self,
        n: usize,
        choice: Masking,
        (s, i): (usize, usize),
    ) -> Option<usize> {
        let (batch, h) = (self.record.batch(), self.intent.n_heads);
        let s = *self.run.sequences.get(s)?;
        Some(match (n, choice) {
            (1, _) => 0,
            (n, Masking::FirstSequence) if n == batch => 0,
            (n, Masking::Tiled) if n == batch => (s * h + i) % batch,
            (n, Masking::Repeated) if n == batch => (i * batch + s) / h,
            (n, _) if n == batch => s,
            (_, Masking::FirstSequence) => i,
            (_, Masking::Tiled) => i * batch + s,
            _ => s * h + i,
        })
    }
}

/// Closes what a mask does in head i, put on so; nothing where it is of another shape.
fn close(
    open: &mut Matrix<bool>,
    mask: Matrix<bool>,
    choice: Masking,
    i: usize,
) -> Option<()> {
    let mask = if choice == Masking::Transposed { mask.transpose() } else { mask };
    let (n_q, n_kv) = open.shape();
    if mask.shape() != (n_q, n_kv) {
        return None;
    }
    let entry = |r: usize, c: usize| match choice {
        Masking::None => true,
        Masking::FirstHead => i > 0 || mask[(r, c)],
        Masking::Opposite => !mask[(r, c)],
        Masking::OtherEnd => mask[(r, n_kv - 1 - c)],
        Masking::OneShort => mask[(r, c)] || c > 0 && mask[(r, c - 1)],
        Masking::Wider => mask[(r, c)] || c + 1 < n_kv && mask[(r, c + 1)],
        _ => mask[(r, c)],
    };
    open.zip_apply(&Matrix::from_fn(n_q, n_kv, entry), |a, b| match choice {
        Masking::Joined => *a |= b,
        _ => *a &= b,
    });
    Some(())
}

/// What blocks opens, and what opens blocks; a mask that only moves scores moves them the
/// other way.
fn opposite(added: &Matrix) -> Matrix {
    const BLOCKS: f64 = -1e4;
    let is_flags = |&x: &f64| x == 0.0 || x <= BLOCKS;
    match added.iter().all(is_flags) {
        true => added.map(|x| if x == 0.0 { f64::NEG_INFINITY } else { 0.0 }),
        false => -added,
    }
}
