//! What “Bad numbers” quotes.

use attention::{Mask, Matrix, MultiHeadAttention, max_abs_diff, softmax_rows};
use fused_heads::FusedAttention;
use lessons::bad_numbers::{outputs::are_nan, softmax_with_fill_added};
use lessons::masks::{padded, row};
use lessons::scores_softmax_scale::as_written;
use model_files::minilm;

use crate::quote::{assert_quote, bound, digits, values};

const NO: f64 = f64::NEG_INFINITY;

#[test]
fn what_fills_a_blocked_score() {
    // The figure has the other rows; in f32 the digits of the old scores do not fit.
    let [both, none] = [2, 0].map(softmax_with_fill_added::<f32>);
    assert_eq!(digits(both.iter().copied()), "0.731 0.269 0.000 0.000");
    assert_eq!(digits(none.iter().copied()), "0.250 0.250 0.250 0.250");
}

#[test]
fn a_fill_that_is_not_low_enough() {
    let row = |fill: f64| {
        digits(softmax_rows(row([-12_000.0, -12_001.0, fill])).iter().copied())
    };
    let text = [("−∞", NO), ("−1e9", -1e9), ("−1e4", -1e4)]
        .map(|(name, fill)| format!("{name:<5}  {}", row(fill)));
    assert_quote!("bad_numbers_small_fill", text.join("\n"));
}

#[test]
fn rows_with_nothing_to_attend_to() {
    let trained = minilm().unwrap();
    let bank = trained.sentence("bank_loan").unwrap();
    let n = bank.input.nrows();
    // Two rows of padding in front, and no query sees what comes after it.
    let real: Vec<bool> = (0..n).map(|key| key >= 2).collect();
    let mask = Mask::All(vec![Mask::Causal, Mask::Keys(real.clone())]);
    let layer = FusedAttention::new(&trained.parameters);
    let seen = layer.self_attend(&bank.input, &mask).unwrap();
    let is_zero = |i: &usize| seen.attn.iter().all(|map| map.row(*i).sum() == 0.0);
    let empty: Vec<usize> = (0..n).filter(is_zero).collect();
    let b_o = trained.parameters.w_o().bias.clone().unwrap();
    assert!(empty.iter().all(|&i| seen.out.row(i) == b_o));

    // What a row of NaN does in the layer that comes next.
    let mut next = bank.input.clone();
    next.row_mut(0).fill(f64::NAN);
    let next = layer.self_attend(&next, &Mask::None).unwrap().out;
    let broken = next.row_iter().filter(|row| row.iter().any(|x| x.is_nan())).count();
    let said = [
        ("n_tokens", n.to_string()),
        ("empty", empty.iter().map(usize::to_string).collect::<Vec<_>>().join(" and ")),
        ("broken_in_next_layer", broken.to_string()),
    ];
    assert_quote!("bad_numbers_empty", values(&said));
}

#[test]
fn huge_scores() {
    let scores = [1e4, 1e4, -1e4];
    let said = [
        ("by_the_formula", digits(textbook_softmax(row(scores)).iter().copied())),
        ("softmax_rows", digits(softmax_rows(row(scores)).iter().copied())),
    ];
    assert_quote!("bad_numbers_huge", values(&said));
}

#[test]
fn how_far_a_nan_gets() {
    let of = |nan: &[usize]| std::array::from_fn(|query| nan.contains(&query));
    let all = of(&[0, 1, 2, 3, 4]);
    assert_eq!(are_nan().unwrap(), [all, of(&[2, 3, 4]), of(&[2]), all]);
}

#[test]
fn nan_in_padding_moves_nothing() {
    let trained = minilm().unwrap();
    let layer = FusedAttention::new(&trained.parameters);
    let bank = &trained.sentence("bank_loan").unwrap().input;
    let n = bank.nrows();
    let mut x = padded(&trained).unwrap();
    x.rows_range_mut(n..).fill(f64::NAN);
    let alone = layer.self_attend(bank, &Mask::None).unwrap().out;
    let masked = layer.self_attend(&x, &Mask::FirstKeys(n)).unwrap().out;
    let moved = max_abs_diff(&alone, &masked.rows(0, n).into_owned()).unwrap();
    let quoted = [("moved_nan", format!("less than {}", bound(moved, 1e-12)))];
    assert_quote!("bad_numbers_nan_values", values(&quoted));
}

/// As it is written.
fn textbook_softmax(scores: Matrix) -> Matrix {
    Matrix::from_row_slice(1, scores.ncols(), &as_written(scores.as_slice()))
}
