//! Masks and batches.

use fused_heads::FusedAttention;

use super::*;

pub fn causal_open(n: &Facts) -> Result<Facts> {
    let [n] = n.wholes(["n"])?;
    let picture = picture(&Mask::Causal, (n, n), "query");
    let open = picture.matches(" x").count();
    Ok(facts![picture, open])
}

pub fn causal_aligned(n: &Facts) -> Result<Facts> {
    let [n_q, n_kv] = n.wholes(["n_q", "n_kv"])?;
    let picture = picture(&Mask::Causal, (n_q, n_kv), "query");
    let first = picture.lines().next().map_or(0, |line| line.matches(" x").count());
    Ok(facts![picture, first])
}

pub fn cross_shape(n: &Facts) -> Result<Facts> {
    let [n_q, n_kv] = n.wholes(["n_q", "n_kv"])?;
    let layer = FusedAttention::new(&layer(Dims::new(16, 2)?, true));
    let (query, key): (Matrix, Matrix) = (tokens(n_q, 16), tokens(n_kv, 16));
    let map = layer.forward(&query, &key, &key, &Mask::None)?.attn[0].shape();
    Ok(facts![map])
}
