//! The block.

use block::{FeedForward, LayerNorm};
use gradients::Entries;

use super::*;

pub fn normed_entry(n: &Facts) -> Result<Facts> {
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

pub fn feed_forward_parameters(n: &Facts) -> Result<Facts> {
    let [d_model, d_ff] = n.wholes(["d_model", "d_ff"])?;
    let layer = FeedForward::<f64>::random(d_model, d_ff, &mut Rng::seed_from_u64(1));
    Ok(facts![parameters = layer.n_entries()])
}
