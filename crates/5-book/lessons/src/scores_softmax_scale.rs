//! “Scores, softmax and √d_k”: one row of scores step by step, and what the division by √d_k is for.

pub mod arrows;
mod row;
pub mod scale;

use anyhow::Result;
use attention::{Mask, Matrix, Rng, SeedableRng, median, random_matrix, softmax_rows};
use figures::{Figure, ScaleSample, WeightRow, average, spread};
use model_files::TrainedLayer;
use single_head::{HeadPass, attend};

use crate::args::{Args, Entry};
use crate::numbers::entropy;
use crate::trained;

pub(crate) const FIGURES: &[Entry] = &[
    ("score-row", row::figure),
    ("score-spread", widths),
    ("wrong-maps", wrong_maps_figure),
];

/// The row of “flew” in the pilot sentence.
pub const FLEW: usize = 3;
/// How many keys a random query is compared with.
pub const N_KEYS: usize = 64;
/// The widths of heads whose scores are measured.
pub const WIDTHS: [usize; 8] = [4, 8, 16, 32, 64, 128, 256, 512];

/// One head's pass over one of the trained layer's sentences.
///
/// # Errors
/// If there is no such sentence.
pub fn pass_of(layer: &TrainedLayer, sentence: &str, head: usize) -> Result<HeadPass> {
    let x = &layer.sentence(sentence)?.input;
    Ok(attend(&layer.parameters.heads()[head], x, x, x, &Mask::None)?)
}

/// q · k as it is: the scores before the division.
pub fn undivided(pass: &HeadPass) -> Matrix {
    &pass.scores * (pass.q.ncols() as f64).sqrt()
}

/// The formula as it is written, which overflows: `exp(s_j) / Σ_j exp(s_j)`.
pub fn as_written(scores: &[f64]) -> Vec<f64> {
    let exps: Vec<f64> = scores.iter().map(|score| score.exp()).collect();
    let sum: f64 = exps.iter().sum();
    exps.iter().map(|exp| exp / sum).collect()
}

/// The mean entropy of the rows of a map, in bits.
pub fn mean_entropy(attn: &Matrix) -> f64 {
    entropy(attn.iter().copied()) / attn.nrows() as f64
}

/// The slope of each row: `Σ_j ∂a_j/∂s_j = Σ_j a_j (1 − a_j)`.
pub fn slopes(attn: &Matrix) -> Vec<f64> {
    let of_shares = attn.map(|a| a * (1.0 - a));
    of_shares.row_iter().map(|row| row.sum()).collect()
}

/// The mean of the largest share of each row.
pub fn mean_largest(attn: &Matrix) -> f64 {
    attn.row_iter().map(|row| row.max()).sum::<f64>() / attn.nrows() as f64
}

/// What is measured of random scores and of the rows that they become.
#[derive(Debug, Clone, Copy)]
pub struct RowStatistics {
    /// The standard deviation of the scores.
    pub spread: f64,
    /// The mean entropy of a row, in bits.
    pub entropy: f64,
    /// The mean slope of a row.
    pub slope: f64,
    /// The median slope of a row.
    pub median_slope: f64,
}

/// Random scores of this d_k, undivided and divided by √d_k.
pub fn measured(d_k: usize) -> [RowStatistics; 2] {
    let rng = &mut Rng::seed_from_u64(d_k as u64);
    let q: Matrix = random_matrix(256, d_k, 1.0, rng);
    let k: Matrix = random_matrix(N_KEYS, d_k, 1.0, rng);
    let scores = q * k.transpose(); // [256, n_keys]
    [scores.clone(), scores / (d_k as f64).sqrt()].map(|scores| {
        let spread = scores.variance().sqrt();
        let attn = softmax_rows(scores);
        let slopes = slopes(&attn);
        RowStatistics {
            spread,
            entropy: mean_entropy(&attn),
            slope: slopes.iter().sum::<f64>() / slopes.len() as f64,
            median_slope: median(slopes),
        }
    })
}

/// One way to make a map of q · k.
pub struct Way {
    /// What is done.
    pub name: &'static str,
    /// The same beside a bar.
    pub short: &'static str,
    /// What comes out, `[n_tokens, n_tokens]`.
    pub attn: Matrix,
}

/// Five ways to make a map of q · k, the right one first; all maps have its shape.
pub fn wrong_maps(raw: &Matrix, d_k: usize, d_model: usize) -> [Way; 5] {
    let (sqrt_d_k, sqrt_d_model) = ((d_k as f64).sqrt(), (d_model as f64).sqrt());
    let by_columns = softmax_rows((raw / sqrt_d_k).transpose()).transpose();
    let undivided = softmax_rows(raw.clone());
    [
        ("right", "right", softmax_rows(raw / sqrt_d_k)),
        ("divided by √d_model", "by √d_model", softmax_rows(raw / sqrt_d_model)),
        ("not divided", "not at all", undivided.clone()),
        ("divided after softmax", "after softmax", undivided / sqrt_d_k),
        ("softmax down columns", "down columns", by_columns),
    ]
    .map(|(name, short, attn)| Way { name, short, attn })
}

/// The spread of random scores and the entropy of their rows, as d_k doubles.
fn widths(_: &Args) -> Result<Figure> {
    let samples = WIDTHS.map(|d_k| {
        let [unscaled, scaled] = measured(d_k);
        ScaleSample {
            d_k,
            std_unscaled: unscaled.spread,
            std_scaled: scaled.spread,
            entropy_unscaled: unscaled.entropy,
            entropy_scaled: scaled.entropy,
        }
    });
    let title = "Undivided scores spread like √d_k and end on one key; divided by √d_k, \
                 neither spread nor entropy depends on d_k";
    Ok(spread(title, &samples, N_KEYS)?)
}

/// One row of head 11, computed rightly and in four wrong ways.
fn wrong_maps_figure(_: &Args) -> Result<Figure> {
    let layer = trained::layer()?;
    let raw = undivided(&pass_of(layer, "pilot", 11)?);
    let dims = layer.parameters.dims();
    let rows = wrong_maps(&raw, dims.d_k(), dims.d_model()).map(|way| WeightRow {
        name: way.short.to_owned(),
        shares: way.attn.row(FLEW).iter().copied().collect(),
    });
    let title = "One row of head 11: without the division pilot takes nearly all, under \
                 √d_model all keys get similar weights";
    Ok(average(title, &layer.sentence("pilot")?.tokens, &rows)?)
}
