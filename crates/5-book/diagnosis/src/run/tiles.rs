//! Other sums than the softmax's: with more in them, or gathered tile by tile.

use attention::Matrix;

use crate::recipe::{Recipe, Softmax};

/// How many of these are a tile.
pub(super) fn tile_of(recipe: &Recipe, n: usize) -> usize {
    match recipe.tile {
        0 => (n.next_power_of_two() / 2).max(1),
        tile => tile,
    }
}

/// Attention weights of scores, each row by itself.
pub(super) fn by_rows(mut scores: Matrix, recipe: &Recipe) -> Matrix {
    let tile = match (recipe.softmax, recipe.tile) {
        (Softmax::ZeroFilled, 0) => scores.ncols().next_power_of_two(),
        _ => tile_of(recipe, scores.ncols()),
    };
    for mut row in scores.row_iter_mut() {
        let of_row: Vec<f64> = row.iter().copied().collect();
        let weights = weights(&of_row, recipe.softmax, tile);
        row.iter_mut().zip(weights).for_each(|(entry, weight)| *entry = weight);
    }
    scores
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
