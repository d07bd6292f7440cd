//! Which columns of a packed W are whose.

use crate::Mistake;
use crate::mistake::Need;
use crate::recipe::Packing;
use crate::step::Step;

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake::new("packed-head-by-head", Step::Packing, "packed head by head", |r| {
        r.packing = Packing::HeadByHead;
    })
    .does("W is read as (heads, 3, d_k): q, k and v of head 0, then of head 1.")
    .plausible("The view has as many entries, and some models are packed so.")
    .pytorch("qkv.view(b, n, heads, 3 * d_k).chunk(3, dim=-1) where qkv.chunk(3, dim=-1) was meant")
    .jax("jnp.split(qkv.reshape(b, n, heads, 3 * d_k), 3, axis=-1)")
    .candle("qkv.reshape((b, n, heads, 3 * d_k))?.chunk(3, D::Minus1)?")
    .chapter("one-matrix-many-heads")
    .report("awslabs/slapo #46; sgl-project/sglang #40127")
    .needs(&[Need::PackedInBlocks]),
    Mistake::new("packed-in-blocks", Step::Packing, "packed in blocks", |r| {
        r.packing = Packing::Blocks;
    })
    .does("W is read as all of q, all of k, all of v, and was packed head by head.")
    .plausible("It is how most models are packed, and every shape fits.")
    .pytorch("qkv.chunk(3, dim=-1) where qkv.view(b, n, heads, 3 * d_k).chunk(3, dim=-1) was meant")
    .jax("jnp.split(qkv, 3, axis=-1)")
    .candle("qkv.chunk(3, D::Minus1)?")
    .chapter("one-matrix-many-heads")
    .report("awslabs/slapo #46; vllm-project/vllm #42803")
    .needs(&[Need::PackedByHeads]),
    Mistake::new("packed-by-features", Step::Packing, "packed feature by feature", |r| {
        r.packing = Packing::Features;
    })
    .does("Every third column is q's, the next k's, the next v's.")
    .plausible("view(b, n, d, 3) has as many entries as view(b, n, 3, d).")
    .pytorch("qkv.view(b, n, d, 3).unbind(-1)")
    .jax("qkv.reshape(b, n, d, 3)")
    .candle("qkv.reshape((b, n, d, 3))?")
    .chapter("one-matrix-many-heads")
    .needs(&[Need::Packed]),
    Mistake::new("packed-k-v-q", Step::Packing, "packed in the order k, v, q", |r| {
        r.packing = Packing::KeyFirst;
    })
    .does("The first block is taken for W^K, the second for W^V, the last for W^Q.")
    .plausible("The three blocks have one shape.")
    .pytorch("k, v, q = qkv.chunk(3, dim=-1)")
    .chapter("one-matrix-many-heads")
    .needs(&[Need::Packed]),
    Mistake::new("packed-v-q-k", Step::Packing, "packed in the order v, q, k", |r| {
        r.packing = Packing::ValueFirst;
    })
    .does("The first block is taken for W^V, the second for W^Q, the last for W^K.")
    .plausible("The three blocks have one shape.")
    .pytorch("v, q, k = qkv.chunk(3, dim=-1)")
    .chapter("one-matrix-many-heads")
    .needs(&[Need::Packed]),
    Mistake::new("packed-q-v-k", Step::Packing, "packed in the order q, v, k", |r| {
        r.packing = Packing::ValueSecond;
    })
    .does("The second block is taken for W^V and the last for W^K.")
    .plausible("The three blocks have one shape.")
    .pytorch("q, v, k = qkv.chunk(3, dim=-1)")
    .chapter("one-matrix-many-heads")
    .needs(&[Need::Packed]),
    Mistake::new("packed-k-q-v", Step::Packing, "packed in the order k, q, v", |r| {
        r.packing = Packing::KeyThenQuery;
    })
    .does("The first block is taken for W^K and the second for W^Q.")
    .plausible("The three blocks have one shape, and without a mask the maps look alike.")
    .pytorch("k, q, v = qkv.chunk(3, dim=-1)")
    .chapter("one-matrix-many-heads")
    .needs(&[Need::Packed]),
];
