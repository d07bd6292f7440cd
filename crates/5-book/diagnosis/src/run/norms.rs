//! Norms of queries and keys.

use attention::{Matrix, RowVector};

use super::Forward;
use crate::recipe::Norms;
use crate::{Kind, NormKind};

/// When a norm is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// On the whole width, before heads are apart.
    BeforeSplit,
    BeforeRotation,
    AfterRotation,
}

impl Forward<'_> {
    /// Norms queries (0) or keys (1) where this is the time for it: rows are tokens.
    pub(super) fn norm(&self, x: &mut Matrix, when: When, (i, role): (usize, usize)) {
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
