//! The figures of chapter 2.

use anyhow::{Context, Result};
use attention::{Mask, Matrix, Rng, SeedableRng, random_matrix, softmax_rows};
use figures::{Figure, ScaleSample, WeightRow, average, spread};
use single_head::attend;

use super::{Args, Entry};

pub const FIGURES: [Entry; 2] = [("score-spread", widths), ("wrong-maps", wrong_maps)];

const N_KEYS: usize = 64;

/// The spread of random scores and the entropy of their rows, as d_k doubles.
fn widths(_: &Args) -> Result<Figure> {
    let samples: Vec<ScaleSample> = (2..10).map(|i| sample(1 << i)).collect();
    let title = "Undivided scores spread like √d_k and end on one key; divided by √d_k, \
                 neither spread nor entropy depends on d_k";
    Ok(spread(title, &samples, N_KEYS)?)
}

fn sample(d_k: usize) -> ScaleSample {
    let rng = &mut Rng::seed_from_u64(d_k as u64);
    let q: Matrix = random_matrix(256, d_k, 1.0, rng);
    let k: Matrix = random_matrix(N_KEYS, d_k, 1.0, rng);
    let unscaled = q * k.transpose(); // [256, n_keys]
    let scaled = &unscaled / (d_k as f64).sqrt();
    ScaleSample {
        d_k,
        std_unscaled: unscaled.variance().sqrt(),
        std_scaled: scaled.variance().sqrt(),
        entropy_unscaled: mean_entropy(unscaled),
        entropy_scaled: mean_entropy(scaled),
    }
}

/// The mean entropy of the rows of softmax(scores), in bits.
fn mean_entropy(scores: Matrix) -> f64 {
    let n_rows = scores.nrows() as f64;
    let attn = softmax_rows(scores);
    let of_row: f64 =
        attn.iter().map(|&a| if a > 0.0 { -a * a.log2() } else { 0.0 }).sum();
    of_row / n_rows
}

/// One row of head 11, computed rightly and in four wrong ways.
fn wrong_maps(_: &Args) -> Result<Figure> {
    let layer = pretrained::minilm()?;
    let sentence = layer.sentence("pilot")?;
    let flew = sentence.tokens.iter().position(|t| t == "flew").context("flew")?;
    let x = &sentence.input;
    let pass = attend(&layer.parameters.heads()[11], x, x, x, &Mask::None)?;

    let dims = layer.parameters.dims();
    let sqrt_d_k = (dims.d_k() as f64).sqrt();
    let sqrt_d_model = (dims.d_model() as f64).sqrt();
    let raw = pass.scores * sqrt_d_k; // q · k as it is, [n_tokens, n_tokens]
    let by_columns = softmax_rows((&raw / sqrt_d_k).transpose()).transpose();
    let row = |name: &str, attn: Matrix| WeightRow {
        name: name.to_owned(),
        shares: attn.row(flew).iter().copied().collect(),
    };
    let rows = [
        row("right", softmax_rows(&raw / sqrt_d_k)),
        row("by √d_model", softmax_rows(&raw / sqrt_d_model)),
        row("not at all", softmax_rows(raw.clone())),
        row("after softmax", softmax_rows(raw) / sqrt_d_k),
        row("down columns", by_columns),
    ];
    let title = "One row of head 11: without the division pilot takes nearly all, under \
                 √d_model all keys come near to each other";
    Ok(average(title, &sentence.tokens, &rows)?)
}
