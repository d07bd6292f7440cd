//! From q, k and v to heads, and keys that heads share.

use crate::Mistake;
use crate::mistake::Need;
use crate::recipe::{Sharing, Split};
use crate::step::Step;

const SHAPE: &str =
    "The shape is right: only the order of the numbers is not. It trains, too.";

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake::new("split-without-transpose", Step::Split, "split without transpose", |r| {
        r.split = Split::View;
    })
    .does("A head gets the entries of some tokens whole, in place of a slice of each token.")
    .plausible(SHAPE)
    .pytorch("q.view(b, h, n, d_k) where q.view(b, n, h, d_k).transpose(1, 2) was meant")
    .jax("q.reshape(b, h, n, d_k) where q.reshape(b, n, h, d_k).swapaxes(1, 2) was meant")
    .candle("q.reshape((b, h, n, d_k))? where q.reshape((b, n, h, d_k))?.transpose(1, 2)? was meant")
    .chapter("one-matrix-many-heads")
    .report("reczoo/FuxiCTR #30; hyunwoongko/transformer #15; 649453932/Chinese-Text-Classification-Pytorch #53; aladdinpersson/Machine-Learning-Collection #165")
    .needs(&[Need::Heads]),
    Mistake::new("values-split-without-transpose", Step::Split, "values split without transpose", |r| {
        r.split = Split::ViewOfValues;
    })
    .does("Maps are right, and average values in a wrong order.")
    .plausible(SHAPE)
    .pytorch("v.view(b, h, n, d_k) where v.view(b, n, h, d_k).transpose(1, 2) was meant")
    .chapter("one-matrix-many-heads")
    .needs(&[Need::Heads]),
    Mistake::new("keys-split-without-transpose", Step::Split, "q and k split without transpose", |r| {
        r.split = Split::ViewOfKeys;
    })
    .does("Values are right, and maps are of queries and keys in a wrong order.")
    .plausible(SHAPE)
    .pytorch("q.view(b, h, n, d_k), k.view(b, h, n, d_k)")
    .chapter("one-matrix-many-heads")
    .needs(&[Need::Heads]),
    Mistake::new("split-interleaved", Step::Split, "split with heads last", |r| {
        r.split = Split::Interleaved;
    })
    .does("Every h-th feature is of one head, in place of d_k features side by side.")
    .plausible(SHAPE)
    .pytorch("q.view(b, n, d_k, h).permute(0, 3, 1, 2)")
    .jax("rearrange(q, 'b n (d h) -> b h n d') where '(h d)' was meant")
    .chapter("one-matrix-many-heads")
    .needs(&[Need::Heads]),
    Mistake::new("split-after-transpose", Step::Split, "transposed before the split", |r| {
        r.split = Split::AfterTranspose;
    })
    .does("Numbers are cut into heads feature by feature, and tokens are mixed.")
    .plausible(SHAPE)
    .pytorch("q.transpose(1, 2).reshape(b, h, n, d_k)")
    .chapter("one-matrix-many-heads"),
    Mistake::new("attends-across-heads", Step::Split, "heads attend to each other", |r| {
        r.split = Split::AcrossHeads;
    })
    .does("The transpose is left out: a token's heads attend to each other, and no token to another.")
    .plausible("(b, n, h, d_k) is a batch of matrices too, and the output has the right shape.")
    .pytorch("q.view(b, n, h, d_k) without .transpose(1, 2)")
    .jax("q.reshape(b, n, h, d_k) without .swapaxes(1, 2)")
    .candle("q.reshape((b, n, h, d_k))? without .transpose(1, 2)?")
    .chapter("one-matrix-many-heads")
    .report("HabanaAI/vllm-fork #1218"),
    Mistake::new("heads-and-width-exchanged", Step::Split, "number and width of heads exchanged", |r| {
        r.split = Split::Exchanged;
    })
    .does("There are d_k heads of width h.")
    .plausible("h · d_k is d_k · h.")
    .pytorch("q.view(b, n, d_k, h).transpose(1, 2)")
    .chapter("one-matrix-many-heads")
    .needs(&[Need::Heads]),
    Mistake::new("keys-of-reversed-heads", Step::Split, "heads of k and v in reversed order", |r| {
        r.split = Split::KeysReversed;
    })
    .does("Query head 0 reads the keys of the last head.")
    .plausible("Each head is right by itself.")
    .pytorch("k.flip(1), v.flip(1)")
    .chapter("one-matrix-many-heads")
    .needs(&[Need::Heads]),
    Mistake::new("key-heads-tiled", Step::Sharing, "key heads tiled", |r| {
        r.sharing = Sharing::Tiled;
    })
    .does("Query heads read key heads 0, 1, 0, 1, in place of 0, 0, 1, 1.")
    .plausible("Both ways give one key head to each query head.")
    .pytorch("k.repeat(1, g, 1, 1) where k.repeat_interleave(g, dim=1) was meant")
    .jax("jnp.tile(k, (1, g, 1, 1)) where jnp.repeat(k, g, axis=1) was meant")
    .candle("Tensor::cat(&vec![&k; g], 1)? where repeat_kv was meant")
    .chapter("variants")
    .report("EricLBuehler/candle-vllm #52; ekzhang/jax-js #180; jxiw/M1 #4")
    .needs(&[Need::SharedKeys]),
    Mistake::new("value-heads-tiled", Step::Sharing, "value heads tiled", |r| {
        r.sharing = Sharing::ValuesTiled;
    })
    .does("Keys are repeated as they should be, and values in turns.")
    .plausible("Maps are right.")
    .pytorch("v.repeat(1, g, 1, 1) where v.repeat_interleave(g, dim=1) was meant")
    .chapter("variants")
    .needs(&[Need::SharedKeys]),
    Mistake::new("first-key-head-for-all", Step::Sharing, "first key head for all", |r| {
        r.sharing = Sharing::First;
    })
    .does("All query heads read the first head of keys and values.")
    .plausible("It is how one shared head works.")
    .pytorch("k[:, :1].expand(-1, h, -1, -1)")
    .chapter("variants")
    .needs(&[Need::SharedKeys]),
    Mistake::new("mean-of-key-heads", Step::Sharing, "mean of key heads for all", |r| {
        r.sharing = Sharing::Mean;
    })
    .does("All query heads read the mean of the heads of keys and values.")
    .plausible("Heads are pooled so where a model is converted, and only there.")
    .pytorch("k.mean(dim=1, keepdim=True).expand(-1, h, -1, -1)")
    .chapter("variants")
    .needs(&[Need::SharedKeys]),
];
