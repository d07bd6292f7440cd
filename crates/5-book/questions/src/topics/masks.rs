//! Masks and batches.

use anyhow::Result;
use attention::{Dims, Mask, Matrix, MultiHeadAttention};
use fused_heads::FusedAttention;

use crate::facts::{Facts, facts};
use crate::parts::{layer, picture, tokens};
use crate::question::Run;

pub const RUNS: &[(&str, Run)] =
    &[("causal-open", causal), ("causal-aligned", aligned), ("cross-shape", cross)];

fn causal(n: &Facts) -> Result<Facts> {
    let [n, entries] = n.wholes(["n", "entries"])?;
    let picture = picture(&Mask::Causal, (n, n), "query");
    let open = picture.matches(" x").count();
    Ok(facts![picture, open, blocked = entries - open, half = entries / 2])
}

fn aligned(n: &Facts) -> Result<Facts> {
    let [n_q, n_kv] = n.wholes(["n_q", "n_kv"])?;
    let picture = picture(&Mask::Causal, (n_q, n_kv), "query");
    let first = picture.lines().next().map_or(0, |line| line.matches(" x").count());
    Ok(facts![picture, first])
}

fn cross(n: &Facts) -> Result<Facts> {
    let [n_q, n_kv] = n.wholes(["n_q", "n_kv"])?;
    let layer = FusedAttention::new(&layer(Dims::new(16, 2)?, true));
    let (query, key): (Matrix, Matrix) = (tokens(n_q, 16), tokens(n_kv, 16));
    let map = layer.forward(&query, &key, &key, &Mask::None)?.attn[0].shape();
    Ok(facts![map, turned = (n_kv, n_q), queries = (n_q, n_q), keys = (n_kv, n_kv)])
}
