//! The block.

use anyhow::Result;
use attention::{Matrix, Rng, SeedableRng};
use block::{FeedForward, LayerNorm};
use gradients::Entries;

use crate::facts::{Facts, facts};
use crate::question::Run;

pub const RUNS: &[(&str, Run)] =
    &[("normed-entry", normed), ("feed-forward-parameters", feed_forward)];

fn normed(n: &Facts) -> Result<Facts> {
    let token: [f64; 3] = n.row("token")?;
    let out = LayerNorm::identity(3).forward(&Matrix::from_row_slice(1, 3, &token))?;
    let mean = token.iter().sum::<f64>() / 3.0;
    let less_mean = token.map(|entry| entry - mean);
    let squares: f64 = less_mean.iter().map(|entry| entry.powi(2)).sum();
    let root_mean_square = (token.iter().map(|x| x * x).sum::<f64>() / 3.0).sqrt();
    let last = less_mean[2];
    Ok(facts![
        last,
        entries = format!("{token:?}"),
        less_mean = format!("{less_mean:?}"),
        spread = (squares / 3.0).sqrt(),
        first = out[0],
        second = out[1],
        third = out[2],
        by_n_less_1 = last / (squares / 2.0).sqrt(),
        rms_norm = token[2] / root_mean_square,
    ])
}

fn feed_forward(n: &Facts) -> Result<Facts> {
    let [d_model, d_ff] = n.wholes(["d_model", "d_ff"])?;
    let layer = FeedForward::<f64>::random(d_model, d_ff, &mut Rng::seed_from_u64(1));
    let matrix = d_model * d_ff;
    Ok(facts![
        parameters = layer.n_entries(),
        matrices = 2 * matrix,
        first = matrix + d_ff,
        wide_bias = 2 * (matrix + d_ff),
    ])
}
