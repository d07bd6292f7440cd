//! What a model that writes uses of the tokens before, and what one more token costs it.

use anyhow::Result;
use attention::{
    Dims, Mask, Matrix, Rng, RowVector, SeedableRng, attend_head, random_matrix,
};
use variants::{LatentSizes, NextToken, Pairing, Rotary, Sizes};

use crate::numbers::apart;

/// The width of the layer that is counted: those of a model of 135 million parameters.
pub const D_MODEL: usize = 576;
/// Its query heads.
pub const N_HEADS: usize = 9;
/// How many heads of keys and values they may have: as many, a third, one.
pub const KV_HEADS: [usize; 3] = [9, 3, 1];
/// How many tokens are cached.
pub const N_CACHED: usize = 1024;

/// Its sizes with so many heads of keys and values.
///
/// # Errors
/// A number of heads that does not divide 9.
pub fn sizes(n_kv_heads: usize) -> Result<Sizes> {
    Ok(Sizes::new(Dims::new(D_MODEL, N_HEADS)?, n_kv_heads)?)
}

/// What it reads and computes for the next token.
///
/// # Errors
/// As [`sizes`].
pub fn next(n_kv_heads: usize) -> Result<NextToken> {
    Ok(NextToken::of(sizes(n_kv_heads)?, N_CACHED)?)
}

/// The sizes with latent keys and values, in DeepSeek-V2's proportions: a latent row of
/// four heads' width, and half a head that is rotated.
///
/// # Errors
/// None; the sizes fit.
pub fn latent() -> Result<LatentSizes> {
    let dims = Dims::new(D_MODEL, N_HEADS)?;
    Ok(LatentSizes { dims, d_latent: 4 * dims.d_k(), d_rotary: dims.d_k() / 2 })
}

/// By how much the product of the two matrices that a score goes through changes when a
/// rotation by one step stands between them, as a part of its size: what cannot be absorbed.
///
/// # Errors
/// None; the sizes fit.
pub fn not_absorbed() -> Result<f64> {
    let d_k = latent()?.dims.d_k();
    let rng = &mut Rng::seed_from_u64(1);
    let [w_q, w_up]: [Matrix; 2] = [D_MODEL, latent()?.d_latent]
        .map(|d_in| random_matrix(d_in, d_k, (d_in as f64).sqrt().recip(), rng));
    let mut rotated = w_up.clone();
    let rotary = Rotary::new(Pairing::Halves, d_k, 10_000.0)?;
    rotary.rotate(&mut rotated, d_k, &vec![1; w_up.nrows()])?;
    let product = &w_q * w_up.transpose();
    Ok(apart(&(&w_q * rotated.transpose()), &product))
}

/// The multiply-adds of writing so many tokens: with a whole pass for each, and with a cache.
///
/// # Errors
/// Sizes that are too large to count.
pub fn writing(n_tokens: usize) -> Result<[u64; 2]> {
    let sizes = sizes(N_HEADS)?;
    let (mut whole, mut cached) = (0, 0);
    for n in 1..=n_tokens {
        whole += sizes.multiply_adds(n, n)?.total();
        cached += NextToken::of(sizes, n)?.multiply_adds;
    }
    Ok([whole, cached])
}

/// Whether the new token's output depends on each token's query, key and value, at each step
/// of writing: `[step, token]` each.
///
/// Found by trying: at each step, each row is nudged, and the output of the newest token
/// moves or does not.
///
/// # Errors
/// None; the sizes fit.
pub fn uses(n_tokens: usize) -> Result<[Matrix<bool>; 3]> {
    let rng = &mut Rng::seed_from_u64(1);
    let rows: [Matrix; 3] = [0, 1, 2].map(|_| random_matrix(n_tokens, 4, 1.0, rng));
    let mut uses = [0, 1, 2].map(|_| Matrix::from_element(n_tokens, n_tokens, false));
    for newest in 0..n_tokens {
        let before = output(&rows, newest)?;
        for token in 0..=newest {
            for (which, uses) in uses.iter_mut().enumerate() {
                let mut nudged = rows.clone();
                nudged[which].row_mut(token)[0] += 0.5;
                uses[(newest, token)] = output(&nudged, newest)? != before;
            }
        }
    }
    Ok(uses)
}

/// The newest token's output, of the tokens up to it.
fn output([q, k, v]: &[Matrix; 3], newest: usize) -> Result<RowVector> {
    let n = newest + 1;
    let (q, k, v) = (q.rows(0, n), k.rows(0, n), v.rows(0, n));
    let head = attend_head(q, k, v, None, &Mask::Causal)?;
    Ok(head.out.row(newest).into_owned())
}
