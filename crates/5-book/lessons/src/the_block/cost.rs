//! What a block costs, and from which length on pairs of tokens are most of it.

use anyhow::Result;
use attention::{Dims, LayerParameters, Rng, SeedableRng};
use block::{Block, FeedForward, LayerNorm, Ledger, Norms, Sublayer};
use fused_heads::FusedAttention;

/// The width of a token.
pub const D_MODEL: usize = 256;
/// The number of heads.
pub const N_HEADS: usize = 8;
/// The width between the two projections of the feed-forward layer.
pub const D_FF: usize = 1024;

/// The block of the chapter.
///
/// # Errors
/// None; the sizes fit.
pub fn block() -> Result<Block<FusedAttention>> {
    let rng = &mut Rng::seed_from_u64(1);
    let parameters = LayerParameters::random(Dims::new(D_MODEL, N_HEADS)?, true, rng);
    let norms = || Norms::after(LayerNorm::identity(D_MODEL));
    let attention = Sublayer::new(FusedAttention::new(&parameters), norms());
    let ffn = FeedForward::random(D_MODEL, D_FF, rng);
    Ok(Block::new(attention, Some(Sublayer::new(ffn, norms()))))
}

/// Its ledger for so many tokens.
///
/// # Errors
/// More work than a `u64` counts.
pub fn ledger(n_tokens: usize) -> Result<Ledger> {
    Ok(Ledger::of(&block()?, n_tokens)?)
}

/// The first length at which pairs of tokens are more work than all else: a pair takes
/// `2 d_model` multiply-adds, and a token `4 d_model² + 2 d_model d_ff` for the rest.
pub fn overtaken() -> usize {
    2 * D_MODEL + D_FF + 1
}
