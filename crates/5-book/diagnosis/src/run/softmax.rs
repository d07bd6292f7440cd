//! From scores to attention weights: the softmax, and other sums than its own, with more in
//! them or gathered tile by tile; and dropout, told from the map that the code itself made.

use attention::{Matrix, softmax_rows};

use super::{Forward, Run};
use crate::State;
use crate::compare::is_one_shape;
use crate::recipe::{Recipe, Softmax};
use crate::rows::column_blocks;

impl Forward<'_> {
    /// The softmax of scores of which `each` are a sequence's.
    pub(super) fn softmax(&self, scores: Vec<Matrix>, each: usize) -> Vec<Matrix> {
        let rows = |scores: Vec<Matrix>| scores.into_iter().map(softmax_rows);
        match self.recipe.softmax {
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
            _ => scores.into_iter().map(|scores| self.by_rows(scores)).collect(),
        }
    }

    /// Weights as dropout leaves them: 0 where the record's own map is, and the others by one
    /// factor too large; nothing where they are not so.
    pub(super) fn drop(&self, attn: &mut [Matrix]) -> Option<()> {
        self.record.tensors.get(&State::Attn)?;
        let given = self.read(State::Attn)?;
        let factor = 1.0 / (1.0 - dropped(attn, &given)?);
        for (attn, given) in attn.iter_mut().zip(given.iter()) {
            attn.zip_apply(given, |weight, given| {
                *weight = if given == 0.0 { 0.0 } else { *weight * factor };
            });
        }
        Some(())
    }

    /// Each row by itself.
    fn by_rows(&self, mut scores: Matrix) -> Matrix {
        let softmax = self.recipe.softmax;
        let tile = match (softmax, self.recipe.tile) {
            (Softmax::ZeroFilled, 0) => scores.ncols().next_power_of_two(),
            _ => self.tile(scores.ncols()),
        };
        for mut row in scores.row_iter_mut() {
            let of_row: Vec<f64> = row.iter().copied().collect();
            let weights = weights(&of_row, softmax, tile);
            row.iter_mut().zip(weights).for_each(|(entry, weight)| *entry = weight);
        }
        scores
    }
}

impl Run<'_> {
    /// The share of weights that dropout took from the record's map, if it did.
    pub(crate) fn dropped(&self) -> Option<f64> {
        let attn = self.step(State::Attn, &Recipe::RIGHT)?;
        dropped(&attn, self.record.tensors.get(&State::Attn)?)
    }
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
    column_blocks(&attn, heads[0].ncols())
}

fn weights(scores: &[f64], softmax: Softmax, tile: usize) -> Vec<f64> {
    let largest =
        |scores: &[f64]| scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // −∞ − (−∞) is NaN.
    let finite = |most: f64| if most == f64::NEG_INFINITY { 0.0 } else { most };
    let most = finite(largest(scores));
    let powers: Vec<f64> = scores.iter().map(|s| (s - most).exp()).collect();
    // The largest score of the key's tile and of those before it.
    let until =
        |i: usize| finite(largest(&scores[..((i / tile + 1) * tile).min(scores.len())]));
    let early = |(i, s): (usize, &f64)| (s - until(i)).exp();
    let not_rescaled = || scores.iter().enumerate().map(early).collect::<Vec<_>>();
    let divided = |(i, power): (usize, f64)| power * (most - until(i)).exp();
    let sum: f64 = powers.iter().sum();
    let zero = (-most).exp();
    // One alone is a sum with one more in it.
    let filled = scores.len().next_multiple_of(tile) - scores.len();
    let (weights, sum) = match softmax {
        Softmax::NoExponential => (scores.to_vec(), scores.iter().sum()),
        Softmax::NotDivided => (powers, 1.0),
        Softmax::PlusOne => (powers, sum + zero),
        Softmax::PlusOneLate => (powers, sum + 1.0),
        Softmax::ZeroFilled if filled > 1 => (powers, sum + filled as f64 * zero),
        Softmax::SumNotRescaled => (powers, not_rescaled().iter().sum()),
        Softmax::OutputNotRescaled => (not_rescaled(), sum),
        Softmax::OutputDivided => {
            (not_rescaled().into_iter().enumerate().map(divided).collect(), sum)
        }
        _ => (powers, sum),
    };
    let sum = if sum == 0.0 { 1.0 } else { sum };
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// The p of dropout that made a map of another: zeros, about as many as p says, and the rest
/// by 1 / (1 − p) larger; whether it is by that factor alone is not looked at.
fn dropped(attn: &[Matrix], given: &[Matrix]) -> Option<f64> {
    const FEWEST: f64 = 16.0;
    if !is_one_shape(attn, given) {
        return None;
    }
    let (mut zeros, mut n, mut product, mut squares) = (0.0, 0.0, 0.0, 0.0);
    let both = attn.iter().flatten().zip(given.iter().flatten());
    for (weight, given) in both.filter(|(weight, _)| **weight > 0.0) {
        n += 1.0;
        if *given == 0.0 {
            zeros += 1.0;
        } else {
            product += given * weight;
            squares += weight * weight;
        }
    }
    let p = 1.0 - squares / product;
    // Five times as far as chance takes the share of zeros from p.
    let near = 5.0 * (p * (1.0 - p) / n).sqrt();
    let is_share = p > 0.0 && p < 1.0 && (zeros / n - p).abs() <= near;
    (is_share && zeros > 0.0 && n - zeros >= FEWEST).then_some(p)
}
