//! Chapter 7: masks on the sentence of the bank, and what fills a blocked score.

use anyhow::{Result, bail};
use attention::{Mask, Matrix, MultiHeadAttention, Real, softmax_rows};
use figures::{Figure, Heads, WeightRow, average, head_maps, mask_maps};
use fused_heads::FusedAttention;
use pretrained::{TrainedLayer, minilm};

use crate::args::{Args, Entry};

pub(crate) const FIGURES: [Entry; 5] = [
    ("mask-kinds", mask_kinds),
    ("mask-padding", mask_padding),
    ("mask-heads", mask_heads),
    ("mask-empty-row", mask_empty_row),
    ("mask-cross", mask_cross),
];

/// Four scores of one query.
pub const SCORES: [f64; 4] = [2.0, 1.0, 0.5, -1.0];
/// `loan`, and a head in which much of its attention goes to padding.
pub const QUERY: usize = 5;
/// That head.
pub const HEAD: usize = 6;

/// The sentence of the bank, and below it two rows that a longer sentence left.
///
/// # Errors
/// None; the sentences are parts of the program.
pub fn padded(trained: &TrainedLayer) -> Result<Matrix> {
    let bank = &trained.sentence("bank_loan")?.input;
    let mut padded = trained.sentence("pilot")?.input.clone();
    padded.rows_mut(0, bank.nrows()).copy_from(bank);
    Ok(padded)
}

/// A row of scores.
pub fn row<const N: usize>(scores: [f64; N]) -> Matrix {
    Matrix::from_row_slice(1, N, &scores)
}

/// −1e9 added as it stands to all but the first keys, in the precision of the scores.
pub fn softmax_with_fill_added<T: Real>(allowed: usize) -> Matrix {
    let fill = |j: usize| T::of(if j < allowed { 0.0 } else { -1e9 });
    let filled = Matrix::from_fn(1, 4, |_, j| T::of(SCORES[j]) + fill(j));
    softmax_rows(filled).map(|share: T| share.to_f64())
}

/// All but the first keys replaced by −1e9.
pub fn softmax_with_fill(allowed: usize) -> Matrix {
    let fill = |j: usize, score| if j < allowed { score } else { -1e9 };
    softmax_rows(Matrix::from_fn(1, 4, |_, j| fill(j, SCORES[j])))
}

fn mask_kinds(_: &Args) -> Result<Figure> {
    let words = ["the", "bank", "approved", "the", "loan", "(pad)", "(pad)"];
    let (n, real) = (words.len(), 5);
    let masks = [
        ("none", Mask::None),
        ("padding, 5 real", Mask::FirstKeys(real)),
        ("causal", Mask::Causal),
        ("causal and padding", Mask::All(vec![Mask::Causal, Mask::FirstKeys(real)])),
    ];
    let may =
        |mask: &Mask| Matrix::from_fn(n, n, |i, j| mask.added((i, j), (n, n)).is_some());
    let maps = masks.map(|(name, mask)| (name, may(&mask)));
    let named: Vec<_> = maps.iter().map(|(name, map)| (*name, map)).collect();
    let title = "A mask is a table: padding blocks columns, causality blocks a corner";
    Ok(mask_maps(title, &words, &words, &named)?)
}

/// A row of a trained head with two rows below the sentence that an earlier one left.
fn mask_padding(_: &Args) -> Result<Figure> {
    let trained = minilm()?;
    let (bank, padded) = (trained.sentence("bank_loan")?, padded(&trained)?);
    let (n, n_padded) = (bank.tokens.len(), padded.nrows());
    let mut tokens = bank.tokens.clone();
    tokens.extend((n..n_padded).map(|at| format!("(pad {})", at - n)));

    let layer = FusedAttention::new(&trained.parameters);
    let bars = |name: &str, x: &Matrix, mask| -> Result<WeightRow> {
        let seen = layer.self_attend(x, &mask)?;
        let mut shares: Vec<f64> = seen.attn[HEAD].row(QUERY).iter().copied().collect();
        shares.resize(n_padded, 0.0);
        Ok(WeightRow { name: name.to_owned(), shares })
    };
    let rows = [
        bars("the sentence alone", &bank.input, Mask::None)?,
        bars("padded, no mask", &padded, Mask::None)?,
        bars("padded, masked", &padded, Mask::FirstKeys(n))?,
    ];
    let title = "Without a mask, loan gives part of its attention to padding (head 6)";
    Ok(average(title, &tokens, &rows)?)
}

/// `mask=none` or `mask=causal`.
fn mask_heads(args: &Args) -> Result<Figure> {
    let (mask, title) = match args.get("mask") {
        Some("none") => (Mask::None, "No mask: every query looks both ways"),
        Some("causal") => (
            Mask::Causal,
            "Causal: the upper right is empty, and each row still sums to 1",
        ),
        other => bail!("mask-heads takes mask=none or mask=causal, not {other:?}"),
    };
    let trained = minilm()?;
    let bank = trained.sentence("bank_loan")?;
    let seen =
        FusedAttention::new(&trained.parameters).self_attend(&bank.input, &mask)?;
    let numbers = [3, 7, 11];
    let maps = numbers.map(|head| seen.attn[head].clone());
    let heads = Heads::of_tokens(&maps, &bank.tokens)?.numbered(&numbers)?;
    Ok(head_maps(title, &heads))
}

fn mask_empty_row(_: &Args) -> Result<Figure> {
    let rows = [
        ("−∞ (zeros, here)", softmax_rows(Mask::FirstKeys(0).apply(row(SCORES)))),
        ("replaced by −1e9", softmax_with_fill(0)),
        ("−1e9 added, f64", softmax_with_fill_added::<f64>(0)),
    ]
    .map(|(name, shares)| WeightRow {
        name: name.to_owned(),
        shares: shares.iter().copied().collect(),
    });
    let keys = ["key 0", "key 1", "key 2", "key 3"];
    let title = "All four keys are blocked: only −∞ gives them nothing";
    Ok(average(title, &keys, &rows)?)
}

fn mask_cross(_: &Args) -> Result<Figure> {
    let trained = minilm()?;
    let (bank, river) =
        (trained.sentence("bank_loan")?, trained.sentence("river_banks")?);
    let layer = FusedAttention::new(&trained.parameters);
    let seen = layer.forward(&bank.input, &river.input, &river.input, &Mask::None)?;
    let numbers = [9, 11];
    let maps = numbers.map(|head| seen.attn[head].clone());
    let heads = Heads::new(&maps, &bank.tokens, &river.tokens)?.numbered(&numbers)?;
    let title = "Cross-attention: as many rows as queries, as many columns as keys";
    Ok(head_maps(title, &heads))
}
