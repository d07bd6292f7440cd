//! What “Bad numbers” quotes.

use std::fmt::Write;

use attention::{Mask, Matrix, MultiHeadAttention, max_abs_diff, softmax_rows};
use fused_heads::FusedAttention;
use lessons::bad_numbers::{softmax_with_fill, softmax_with_fill_added};
use lessons::masks::{SCORES, padded, row};
use lessons::scores_softmax_scale::as_written;
use model_files::minilm;
use per_head::PerHeadAttention;

use crate::quote::{Table, assert_quote, bound, digits, values};
use stages::cases::{layer, tokens};

const NO: f64 = f64::NEG_INFINITY;

#[test]
fn what_fills_a_blocked_score() {
    let keys = |allowed: usize| Mask::FirstKeys(allowed);
    let ours = |allowed| softmax_rows(keys(allowed).apply(row(SCORES)));
    let plain = |allowed| textbook_softmax(keys(allowed).apply(row(SCORES)));
    let (both, none) = (2, 0);
    let mut table = Table::new(["blocked scores", "2 of 4 allowed", "none allowed"]);
    for (name, rows) in [
        ("−∞, softmax_rows", [both, none].map(ours)),
        ("−∞, softmax by the formula", [both, none].map(plain)),
        ("replaced by −1e9", [both, none].map(softmax_with_fill)),
        ("−1e9 added, f64", [both, none].map(softmax_with_fill_added::<f64>)),
        ("−1e9 added, f32", [both, none].map(softmax_with_fill_added::<f32>)),
    ] {
        let [both, none] = rows.map(|row| digits(row.iter().copied()));
        table.row([name, &both, &none]);
    }
    assert_quote!("bad_numbers_fills", table.text());
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
        ("empty_output", first_numbers(seen.out.row(0).iter())),
        ("b_o", first_numbers(b_o.iter())),
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
        ("last_exp_f32", format!("{:.2}", f32::MAX.ln())),
        ("last_exp_f64", format!("{:.2}", f64::MAX.ln())),
    ];
    assert_quote!("bad_numbers_huge", values(&said));
}

#[test]
fn how_far_a_nan_gets() {
    let broken = 2;
    let layer = layer(12, 3, 7);
    let mut x = tokens(5, 12, 8);
    x[(broken, 7)] = f64::NAN;
    let others: Vec<bool> = (0..5).map(|key| key != broken).collect();
    let blocked = Mask::Keys(others);
    let stage = PerHeadAttention::new(layer);
    let out = |mask| stage.self_attend(&x, mask).unwrap().out;
    // The head's last step as a plain product, in which 0 · NaN is NaN.
    let head = &stage.heads(&x, &x, &x, &blocked).unwrap()[0];
    let product = &head.attn * &head.v;

    let columns = [
        ("no mask", out(&Mask::None)),
        ("causal", out(&Mask::Causal)),
        ("token 2 blocked", out(&blocked)),
        ("blocked, plain product", product),
    ];
    let mut text = String::from("output of");
    columns.iter().for_each(|(name, _)| write!(text, "  {name:>8}").unwrap());
    for i in 0..5 {
        write!(text, "\nquery {i}  ").unwrap();
        for (name, out) in &columns {
            let is_nan = out.row(i).iter().any(|x| x.is_nan());
            let kind = if is_nan { "NaN" } else { "finite" };
            let width = name.len().max(8);
            write!(text, "  {kind:>width$}").unwrap();
        }
    }
    assert_quote!("bad_numbers_nan", text);
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

/// In prose: `0.047, −0.022, …`
fn first_numbers<'a>(numbers: impl Iterator<Item = &'a f64>) -> String {
    digits(numbers.copied().take(4)).replace('-', "−").replace(' ', ", ")
}
