//! The figures of chapter 7.

use anyhow::{Result, bail};
use attention::{Mask, Matrix, MultiHeadAttention, softmax_rows};
use figures::{Figure, Heads, WeightRow, average, head_maps, mask_maps};
use fused_heads::FusedAttention;
use pretrained::minilm;

use super::{Args, Entry};

pub const FIGURES: [Entry; 5] = [
    ("mask-kinds", mask_kinds),
    ("mask-padding", mask_padding),
    ("mask-heads", mask_heads),
    ("mask-empty-row", mask_empty_row),
    ("mask-cross", mask_cross),
];

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
    let (bank, pilot) = (trained.sentence("bank_loan")?, trained.sentence("pilot")?);
    let (n, n_padded) = (bank.tokens.len(), pilot.tokens.len());
    let mut padded = pilot.input.clone();
    padded.rows_mut(0, n).copy_from(&bank.input);
    let mut tokens = bank.tokens.clone();
    tokens.extend((n..n_padded).map(|at| format!("(pad {})", at - n)));

    let (head, query) = (6, 5);
    let layer = FusedAttention::new(&trained.parameters);
    let row = |name: &str, x: &Matrix, mask| -> Result<WeightRow> {
        let seen = layer.self_attend(x, &mask)?;
        let mut shares: Vec<f64> = seen.attn[head].row(query).iter().copied().collect();
        shares.resize(n_padded, 0.0);
        Ok(WeightRow { name: name.to_owned(), shares })
    };
    let rows = [
        row("the sentence alone", &bank.input, Mask::None)?,
        row("padded, no mask", &padded, Mask::None)?,
        row("padded, masked", &padded, Mask::FirstKeys(n))?,
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
    let scores = Matrix::from_row_slice(1, 4, &[2.0, 1.0, 0.5, -1.0]);
    let added = Mask::Additive(Matrix::from_element(1, 4, -1e9));
    let rows = [
        ("−∞ (zeros, here)", Mask::FirstKeys(0).apply(scores.clone())),
        ("replaced by −1e9", Matrix::from_element(1, 4, -1e9)),
        ("−1e9 added, f64", added.apply(scores)),
    ]
    .map(|(name, scores)| WeightRow {
        name: name.to_owned(),
        shares: softmax_rows(scores).iter().copied().collect(),
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
