//! From q, k and v to heads: the split, norms, rotary positions, and keys that heads share;
//! and heads side by side once more.

use attention::{Matrix, RowVector};

use super::Forward;
use crate::recipe::{Merge, Norms, Rotary, Sharing, Split};
use crate::rows::{column_blocks, numbers, permuted, view};
use crate::{Kind, NormKind, Pairing};

/// When a norm is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// On the whole width, before heads are apart.
    BeforeSplit,
    BeforeRotation,
    AfterRotation,
}

impl Forward<'_> {
    /// `[n, heads · width]` a sequence becomes `[n, width]` a head.
    pub(super) fn split(&self, flat: &[Matrix], role: usize) -> Option<Vec<Matrix>> {
        let (_, h, h_kv) = self.sizes();
        let heads = if role == 0 { h } else { h_kv };
        let mut split = Vec::new();
        for (s, sequence) in flat.iter().enumerate() {
            let mut sequence = sequence.clone();
            let places = self.places_of_heads(s, role, sequence.nrows());
            self.norm(&mut sequence, When::BeforeSplit, (0, role));
            if self.recipe.rotary == Rotary::WholeWidth && role < 2 {
                let (pairing, base) = self.intent.rotary?;
                let d = sequence.ncols();
                if d % 2 != 0 {
                    return None;
                }
                let frequency = self.frequency(base, d);
                let angle = |t: usize, p: usize| places[t] * frequency(p);
                rotate(&mut sequence, pairing, Rotary::WholeWidth, angle);
            }
            let mut of_sequence = of_one(&sequence, heads, role, self.recipe.split)?;
            for (i, head) in of_sequence.iter_mut().enumerate() {
                self.norm(head, When::BeforeRotation, (i, role));
                self.rotate_head(head, (i, role), &places)?;
                self.norm(head, When::AfterRotation, (i, role));
            }
            if heads == h {
                split.extend(of_sequence);
            } else if matches!(self.recipe.split, Split::AcrossHeads | Split::Exchanged) {
                return None;
            } else {
                split.extend(shared(&of_sequence, h, role, self.recipe.sharing));
            }
        }
        Some(split)
    }

    /// Norms queries (0) or keys (1) where this is the time for it: rows are tokens.
    fn norm(&self, x: &mut Matrix, when: When, (i, role): (usize, usize)) {
        let choice = self.recipe.norms;
        let Some(norms) = self.record.weights.norms.as_ref().filter(|_| role < 2) else {
            return;
        };
        let norm = &norms[role];
        let expected = match (choice == Norms::OtherWidth) != norm.is_whole {
            true => When::BeforeSplit,
            false if choice == Norms::AfterRotation => When::AfterRotation,
            false => When::BeforeRotation,
        };
        if choice == Norms::None || when != expected {
            return;
        }
        let n = x.ncols();
        let of = |all: &RowVector<f64>| -> Vec<f64> {
            // A head's part of the whole, or its own once more for each head.
            let first = if n < all.len() { i * n } else { 0 };
            (0..n).map(|c| all[(first + c) % all.len()]).collect()
        };
        let eps = self.run.number.filter(|it| it.kind == Kind::Eps);
        let eps = eps.map_or(norm.eps, |it| it.found);
        divide(x, norm.kind, eps, choice == Norms::OverTokens);
        if choice != Norms::WithoutGain {
            let (gain, bias) = (of(&norm.gain), norm.bias.as_ref().map(of));
            for (c, mut column) in x.column_iter_mut().enumerate() {
                column *= gain[c];
                column.add_scalar_mut(bias.as_ref().map_or(0.0, |bias| bias[c]));
            }
        }
        self.run.precision.round_all(x, self.run.rounding);
    }

    /// Where the tokens of queries, keys or values stand, by what a recipe counts.
    fn places_of_heads(&self, s: usize, role: usize, n: usize) -> Vec<f64> {
        let places = self.places(s, role.min(1), n);
        let lengths = self.record.lengths();
        let counted =
            |first: isize| (0..n).map(|t| (t as isize + first) as f64).collect();
        let each =
            |of: &dyn Fn(f64) -> f64| places.iter().map(|place| of(*place)).collect();
        match (self.recipe.rotary, role) {
            (Rotary::QueriesFromZero, 0) | (Rotary::KeysFromZero, 1) => counted(0),
            (Rotary::PaddingCounted, 0) => counted(self.intent.first_query(lengths)),
            (Rotary::QueriesAhead, 0) => each(&|place| place + 1.0),
            (Rotary::CachedKeysTwice, 1) => {
                let first = self.places(s, 0, lengths.0)[0];
                each(&|place| if place < first { 2.0 * place } else { place })
            }
            _ => places,
        }
    }

    fn rotate_head(
        &self,
        head: &mut Matrix,
        (i, role): (usize, usize),
        places: &[f64],
    ) -> Option<()> {
        let choice = self.recipe.rotary;
        let meant = match choice {
            Rotary::UnmeantHalves => Some((Pairing::Halves, 10_000.0)),
            Rotary::UnmeantPairs => Some((Pairing::Pairs, 10_000.0)),
            _ => self.intent.rotary,
        };
        let Some((pairing, base)) = meant else { return Some(()) };
        let factor = factors(choice)[role];
        if factor == 0.0 || choice == Rotary::FirstHead && i > 0 {
            return Some(());
        }
        let d = head.ncols();
        let is_odd = d % if choice == Rotary::HalfOfHead { 4 } else { 2 } != 0;
        if is_odd || self.recipe.split == Split::AcrossHeads {
            return None;
        }
        let pairing = match (choice, pairing) {
            (Rotary::OtherPairing, Pairing::Halves) => Pairing::Pairs,
            (Rotary::OtherPairing, Pairing::Pairs) => Pairing::Halves,
            (_, pairing) => pairing,
        };
        let width = if choice == Rotary::HalfOfHead { d / 2 } else { d };
        let frequency = self.frequency(base, width);
        let mut rotated = head.columns(0, width).into_owned();
        rotate(&mut rotated, pairing, choice, |t, p| {
            let place = if choice == Rotary::ByHead { i as f64 } else { places[t] };
            factor * place * frequency(p)
        });
        head.columns_mut(0, width).copy_from(&rotated);
        Some(())
    }

    /// By how much pair p is rotated from one position to the next, in radians.
    fn frequency(&self, base: f64, d: usize) -> impl Fn(usize) -> f64 {
        let choice = self.recipe.rotary;
        let width = match choice {
            Rotary::HalfExponent => 2 * d,
            Rotary::ExponentOfModel => self.record.weights.projections[0].d_out(),
            _ => d,
        };
        let base: f64 = match choice {
            Rotary::OtherBase if base == 10_000.0 => 500_000.0,
            Rotary::OtherBase => 10_000.0,
            _ => base,
        };
        let first = if choice == Rotary::OddExponent { 1 } else { 0 };
        move |p| base.powf(-((2 * p + first) as f64) / width as f64)
    }

    /// `[n, d_v]` a head becomes `[n, h · d_v]` a sequence.
    pub(super) fn merge(&self, heads: &[Matrix]) -> Option<Vec<Matrix>> {
        let batch = self.n_sequences();
        let each = heads.len() / batch;
        if each == 0 {
            return None;
        }
        if self.recipe.split == Split::AcrossHeads {
            let is_meant = self.recipe.merge == Merge::Meant;
            let width = heads[0].len();
            return is_meant.then(|| view(&numbers(heads), each, width));
        }
        let of_sequence = |s: usize| -> Vec<Matrix> {
            let head = |i: usize| match self.recipe.merge {
                Merge::Reversed => heads[s * each + each - 1 - i].clone(),
                Merge::First => heads[s * each].clone(),
                Merge::Mean => {
                    heads[s * each..][..each].iter().sum::<Matrix>() / each as f64
                }
                Merge::HeadsBeforeBatch => heads[i * batch + s].clone(),
                _ => heads[s * each + i].clone(),
            };
            (0..each).map(head).collect()
        };
        (0..batch).map(|s| side_by_side(&of_sequence(s), self.recipe.merge)).collect()
    }
}

/// Divides each row, or all of them together, by the root of the mean of the squares, and
/// first subtracts the mean where the norm does so.
pub(super) fn divide(x: &mut Matrix, kind: NormKind, eps: f64, is_one: bool) {
    if kind == NormKind::Layer {
        for mut row in x.row_iter_mut() {
            let mean = row.mean();
            row.add_scalar_mut(-mean);
        }
    }
    let root = |squares: f64, n: usize| (squares / n as f64 + eps).sqrt();
    if is_one {
        *x /= root(x.norm_squared(), x.len());
        return;
    }
    for mut row in x.row_iter_mut() {
        row /= root(row.norm_squared(), row.len());
    }
}

/// The heads of one sequence.
fn of_one(x: &Matrix, heads: usize, role: usize, split: Split) -> Option<Vec<Matrix>> {
    let (n, width) = x.shape();
    if !width.is_multiple_of(heads) {
        return None;
    }
    let d = width / heads;
    let flat = || numbers(std::slice::from_ref(x));
    Some(match split {
        Split::View => view(&flat(), n, d),
        Split::ViewOfValues if role == 2 => view(&flat(), n, d),
        Split::ViewOfKeys if role < 2 => view(&flat(), n, d),
        Split::Meant | Split::ViewOfValues | Split::ViewOfKeys => column_blocks(x, d),
        Split::Interleaved => {
            let of_head = |i| (0..d).map(|c| c * heads + i).collect::<Vec<_>>();
            (0..heads).map(|i| x.select_columns(&of_head(i))).collect()
        }
        Split::AfterTranspose => view(&permuted(&flat(), [1, n, width], [0, 2, 1]), n, d),
        Split::AcrossHeads => view(&flat(), heads, d),
        Split::Exchanged => column_blocks(x, heads),
        Split::KeysReversed if role > 0 => {
            column_blocks(x, d).into_iter().rev().collect()
        }
        Split::KeysReversed => column_blocks(x, d),
    })
}

/// A head for each of `h` query heads.
fn shared(heads: &[Matrix], h: usize, role: usize, sharing: Sharing) -> Vec<Matrix> {
    let each = h / heads.len();
    let is_tiled =
        sharing == Sharing::Tiled || sharing == Sharing::ValuesTiled && role == 2;
    let of_head = |i: usize| match sharing {
        _ if is_tiled => heads[i % heads.len()].clone(),
        Sharing::First => heads[0].clone(),
        Sharing::Mean => heads.iter().sum::<Matrix>() / heads.len() as f64,
        Sharing::AlongSequence => {
            let head = &heads[i / each];
            let n = head.nrows();
            let token = |t: usize| (i % each * n + t) / each;
            head.select_rows(&(0..n).map(token).collect::<Vec<_>>())
        }
        _ => heads[i / each].clone(),
    };
    (0..h).map(of_head).collect()
}

/// Rotates pairs of entries of each row by an angle of row and pair.
fn rotate(
    x: &mut Matrix,
    pairing: Pairing,
    choice: Rotary,
    angle: impl Fn(usize, usize) -> f64,
) {
    let (n, d) = x.shape();
    for p in 0..d / 2 {
        let (a, b) = match pairing {
            Pairing::Halves => (p, p + d / 2),
            Pairing::Pairs => (2 * p, 2 * p + 1),
        };
        // An entry may have the angle that it has in the other pairing.
        let pair_of = |entry: usize| match (choice, pairing) {
            (Rotary::AnglesOfOther, Pairing::Halves) => entry / 2,
            (Rotary::AnglesOfOther, Pairing::Pairs) => entry % (d / 2),
            _ => p,
        };
        for t in 0..n {
            let [at_a, at_b] = [a, b].map(|entry| {
                let (sin, cos) = angle(t, pair_of(entry)).sin_cos();
                if choice == Rotary::SineForCosine { (cos, sin) } else { (sin, cos) }
            });
            let minus = if choice == Rotary::WithoutMinus { 1.0 } else { -1.0 };
            let (x_a, x_b) = (x[(t, a)], x[(t, b)]);
            x[(t, a)] = x_a * at_a.1 + minus * x_b * at_a.0;
            x[(t, b)] = x_a * at_b.0 + x_b * at_b.1;
        }
    }
}

/// By what the angles of q, k and v are multiplied.
fn factors(choice: Rotary) -> [f64; 3] {
    match choice {
        Rotary::None | Rotary::WholeWidth => [0.0; 3],
        Rotary::ValuesToo => [1.0; 3],
        Rotary::QueriesAlone => [1.0, 0.0, 0.0],
        Rotary::KeysAlone => [0.0, 1.0, 0.0],
        Rotary::Reversed => [-1.0, -1.0, 0.0],
        Rotary::KeysReversed => [1.0, -1.0, 0.0],
        Rotary::Twice => [2.0, 2.0, 0.0],
        Rotary::KeysTwice => [1.0, 2.0, 0.0],
        _ => [1.0, 1.0, 0.0],
    }
}

/// The heads of one sequence, `(h, n, d_v)` in memory, as `[n, h · d_v]`.
fn side_by_side(heads: &[Matrix], merge: Merge) -> Option<Matrix> {
    let (n, d) = heads[0].shape();
    let h = heads.len();
    let order = match merge {
        Merge::View => [0, 1, 2],
        Merge::Interleaved => [1, 2, 0],
        Merge::WrongAxes => [0, 2, 1],
        _ => {
            let columns: Vec<_> = heads.iter().flat_map(Matrix::column_iter).collect();
            return Some(Matrix::from_columns(&columns));
        }
    };
    let numbers = permuted(&numbers(heads), [h, n, d], order);
    view(&numbers, n, h * d).pop()
}
