//! “Masks”: masks on the sentence of the bank.

pub mod painted;
mod pictures;
pub mod repeated;

use anyhow::Result;
use attention::{Mask, Matrix, MultiHeadAttention};
use figures::{Figure, Heads, WeightRow, average, head_maps, mask_maps};
use fused_heads::FusedAttention;
use model_files::TrainedLayer;

use crate::args::{Args, Entry};
use crate::trained::layer;

pub(crate) const FIGURES: &[Entry] = &[
    ("mask-kinds", mask_kinds),
    ("mask-padding", mask_padding),
    ("mask-cross", mask_cross),
    ("mask-alignments", pictures::alignments),
    ("mask-after-softmax", pictures::after_softmax),
    ("masks-repeated", repeated::figure),
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

/// The map of head 7 on the sentence of the bank under a causal mask, with the mask before
/// softmax and with what it blocks set to 0 afterwards.
///
/// # Errors
/// None; the sentence is a part of the program.
pub fn before_and_after_softmax() -> Result<[Matrix; 2]> {
    let trained = layer()?;
    let x = &trained.sentence("bank_loan")?.input;
    let head = &trained.parameters.heads()[7];
    let attend = |mask| single_head::attend(head, x, x, x, mask);
    let (before, open) = (attend(&Mask::Causal)?.attn, attend(&Mask::None)?.attn);
    let after = open.map_with_location(|i, j, a| if j <= i { a } else { 0.0 });
    Ok([before, after])
}

/// A row of scores.
pub fn row<const N: usize>(scores: [f64; N]) -> Matrix {
    Matrix::from_row_slice(1, N, &scores)
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
    let trained = layer()?;
    let (bank, padded) = (trained.sentence("bank_loan")?, padded(trained)?);
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

fn mask_cross(_: &Args) -> Result<Figure> {
    let trained = layer()?;
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
