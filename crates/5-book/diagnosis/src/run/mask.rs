//! Which query may attend to which key, and what becomes of the scores of the others.

use attention::Matrix;

use super::Run;
use super::tiles::tile_of;
use crate::Corner;
use crate::recipe::{Axes, Cap, Causal, Fill, Masking, Recipe, Scale};

impl Run<'_> {
    /// Whether there is any mask by this recipe.
    pub(super) fn is_masked(&self, recipe: &Recipe) -> bool {
        !self.record.masks.is_empty()
            || self.intent.causal.is_some()
            || recipe.causal == Causal::Unmeant
            || recipe.fill == Fill::LastTileToo
            || recipe.cap == Cap::AfterMask
    }

    /// Whether some query may attend to no key, by this recipe.
    pub(crate) fn has_empty_rows(&self, recipe: &Recipe) -> bool {
        if !self.is_masked(recipe)
            || !self.blocks(recipe)
            || recipe.axes == Axes::Exchanged
        {
            return false;
        }
        let (n_q, n_kv) = self.record.lengths();
        let h = self.intent.n_heads;
        (0..self.sequences.len()).any(|s| {
            (0..h).any(|i| {
                let open = self.open(s, i, (n_q, n_kv), recipe);
                open.is_some_and(|open| {
                    open.row_iter().any(|row| row.iter().all(|&open| !open))
                })
            })
        })
    }

    /// Whether blocked keys have a score of −∞.
    pub(super) fn blocks(&self, recipe: &Recipe) -> bool {
        use Fill::{FirstTileAlone, LastTileToo, MinusInfinity, Opposite};
        let is_capped = recipe.cap == Cap::AfterMask && self.intent.cap.is_some();
        let fill = recipe.fill;
        !is_capped
            && matches!(fill, MinusInfinity | Opposite | LastTileToo | FirstTileAlone)
    }

    /// Scores with the mask on them, and the mask; nothing where shapes do not fit.
    pub(super) fn masked(
        &self,
        mut scores: Matrix,
        (s, i): (usize, usize),
        recipe: &Recipe,
    ) -> Option<(Matrix, Option<Matrix<bool>>)> {
        let rows = self.rows_of_heads(recipe);
        let n_q = rows.map_or(scores.nrows(), |_| self.record.lengths().0);
        let lengths = (n_q, scores.ncols());
        let mut open = self.open(s, i, lengths, recipe)?;
        if let Some(rows) = rows {
            open = open.select_rows(rows);
        }
        if let Some(added) = &self.record.masks.added {
            let added = self.of_masks(added, recipe.pairs, s, i)?;
            let mut added = match recipe.pairs {
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
            if recipe.fill == Fill::FirstTileAlone {
                let tile = tile_of(recipe, lengths.1).min(lengths.1);
                added.columns_range_mut(tile..).fill(0.0);
            }
            scores += rows.map_or_else(|| added.clone(), |rows| added.select_rows(rows));
        }
        scores.zip_apply(&open, |score, open| {
            *score = match (recipe.fill, open) {
                (Fill::OpenPlusOne, true) => *score + 1.0,
                (Fill::BlockedPlusOne, false) => *score + 1.0,
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
        if recipe.cap == Cap::AfterMask {
            self.bound(&mut scores, Cap::Meant);
        }
        Some((scores, Some(open)))
    }

    /// Which query of this sequence may attend to which key in this head.
    fn open(
        &self,
        s: usize,
        i: usize,
        (n_q, n_kv): (usize, usize),
        recipe: &Recipe,
    ) -> Option<Matrix<bool>> {
        let masks = &self.record.masks;
        if recipe.axes == Axes::Exchanged && !masks.is_empty() {
            return None;
        }
        let mut open = self.causal(recipe.causal, (n_q, n_kv));
        if let Some(padding) = &masks.padding {
            let list = self.of_masks(padding, recipe.padding, s, i)?;
            let is_rows = recipe.padding == Masking::Transposed;
            if list.len() != if is_rows { n_q } else { n_kv } {
                return None;
            }
            let entry = |r: usize, c: usize| match recipe.padding {
                Masking::None => true,
                Masking::FirstHead => i > 0 || list[c],
                Masking::Opposite => !list[c],
                Masking::Transposed => list[r],
                Masking::OtherEnd => list[n_kv - 1 - c],
                Masking::OneShort => list[c] || c > 0 && list[c - 1],
                _ => list[c],
            };
            let is_joined = recipe.padding == Masking::Joined;
            open.zip_apply(&Matrix::from_fn(n_q, n_kv, entry), |a, b| {
                *a = if is_joined { *a || b } else { *a && b };
            });
        }
        if let Some(pairs) = &masks.pairs {
            let mask = self.of_masks(pairs, recipe.pairs, s, i)?;
            let mask = match recipe.pairs {
                Masking::None => Matrix::from_element(n_q, n_kv, true),
                Masking::FirstHead if i > 0 => Matrix::from_element(n_q, n_kv, true),
                Masking::Opposite => mask.map(|open| !open),
                Masking::Transposed => mask.transpose(),
                _ => mask.clone(),
            };
            if mask.shape() != (n_q, n_kv) {
                return None;
            }
            open.zip_apply(&mask, |a, b| *a &= b);
        }
        let tile = tile_of(recipe, n_kv).min(n_kv);
        match recipe.fill {
            Fill::Opposite => open.apply(|open| *open = !*open),
            Fill::LastTileToo => {
                open.columns_range_mut(n_kv - n_kv % tile..).fill(false);
            }
            Fill::FirstTileAlone => open.columns_range_mut(tile..).fill(true),
            _ => (),
        }
        Some(open)
    }

    fn causal(&self, choice: Causal, (n_q, n_kv): (usize, usize)) -> Matrix<bool> {
        let corner = match choice {
            Causal::None => None,
            Causal::Unmeant => Some(Corner::TopLeft),
            _ => self.intent.causal,
        };
        let Some(corner) = corner else { return Matrix::from_element(n_q, n_kv, true) };
        let is_last = (corner == Corner::BottomRight) != (choice == Causal::OtherCorner);
        let past = if is_last { n_kv as isize - n_q as isize } else { 0 };
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

    /// Which of the masks is this head's.
    fn of_masks<'m, M>(
        &self,
        masks: &'m [M],
        choice: Masking,
        s: usize,
        i: usize,
    ) -> Option<&'m M> {
        let (batch, h) = (self.record.batch(), self.intent.n_heads);
        let s = *self.sequences.get(s)?;
        let at = match (masks.len(), choice) {
            (1, _) => 0,
            (n, Masking::FirstSequence) if n == batch => 0,
            (n, Masking::Tiled) if n == batch => (s * h + i) % batch,
            (n, Masking::Repeated) if n == batch => (i * batch + s) / h,
            (n, _) if n == batch => s,
            (_, Masking::FirstSequence) => i,
            (_, Masking::Tiled) => i * batch + s,
            _ => s * h + i,
        };
        masks.get(at)
    }
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
