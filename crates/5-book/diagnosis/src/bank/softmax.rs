//! From scores to weights, and the average of values.

use crate::Mistake;
use crate::mistake::Need;
use crate::recipe::{Softmax, Values};
use crate::step::Step;

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake::new("softmax-over-queries", Step::Softmax, "softmax over queries", |r| {
        r.softmax = Softmax::OverQueries;
    })
    .does("Columns sum to 1 in place of rows.")
    .plausible("The map is square, and all of it sums to as much.")
    .pytorch("scores.softmax(dim=-2) where dim=-1 was meant")
    .jax("nn.softmax(scores, axis=-2)")
    .candle("softmax(&scores, D::Minus2)?")
    .chapter("scores-softmax-scale")
    .report("labmlai/annotated_deep_learning_paper_implementations #146; nerminnuraydogan/vision-transformer #1; FudanNLP/fastNLP #254; nerdai/llms-from-scratch-rs #30"),
    Mistake::new("softmax-over-heads", Step::Softmax, "softmax over heads", |r| {
        r.softmax = Softmax::OverHeads;
    })
    .does("At each place of the map the heads sum to 1.")
    .plausible("dim=1 is right where heads have no axis of their own.")
    .pytorch("scores.softmax(dim=1) on (b, h, n, n)")
    .jax("nn.softmax(scores, axis=1)")
    .candle("softmax(&scores, 1)?")
    .chapter("scores-softmax-scale")
    .report("CAMMA-public/rendezvous-in-time #3")
    .needs(&[Need::Heads]),
    Mistake::new("softmax-over-batch", Step::Softmax, "softmax over the batch", |r| {
        r.softmax = Softmax::OverBatch;
    })
    .does("At each place of the map the sequences sum to 1.")
    .plausible("dim=0 is right for a vector.")
    .pytorch("nn.Softmax(dim=0)(scores)")
    .jax("nn.softmax(scores, axis=0)")
    .candle("softmax(&scores, 0)?")
    .chapter("scores-softmax-scale")
    .report("PetrochukM/PyTorch-NLP #2; jadore801120/attention-is-all-you-need-pytorch #52")
    .needs(&[Need::Batch]),
    Mistake::new("softmax-over-map", Step::Softmax, "softmax over the whole map", |r| {
        r.softmax = Softmax::OverMap;
    })
    .does("All entries of a map sum to 1: outputs are n times too small.")
    .plausible("It is a softmax of the scores.")
    .pytorch("scores.flatten(-2).softmax(-1).view_as(scores)")
    .chapter("scores-softmax-scale")
    .report("nntrainer/nntrainer #1602"),
    Mistake::new("softmax-over-heads-and-keys", Step::Softmax, "softmax over heads and keys", |r| {
        r.softmax = Softmax::OverHeadsAndKeys;
    })
    .does("A query's weights sum to 1 over all heads together: heads compete.")
    .plausible("One flatten too many; the maps look right up to their size.")
    .pytorch("scores.transpose(1, 2).flatten(2).softmax(-1)")
    .chapter("scores-softmax-scale")
    .report("facebookresearch/detr #247")
    .needs(&[Need::Heads]),
    Mistake::new("no-softmax", Step::Softmax, "no softmax", |r| r.softmax = Softmax::None)
        .does("Scores are the weights.")
        .plausible("The shape is the same.")
        .pytorch("attn = q @ k.transpose(-2, -1) / math.sqrt(d_k)")
        .chapter("scores-softmax-scale")
        .report("ruvnet/agentic-flow #191"),
    Mistake::new("softmax-twice", Step::Softmax, "softmax twice", |r| {
        r.softmax = Softmax::Twice;
    })
    .does("Weights go through a softmax once more: maps are nearly even.")
    .plausible("Rows sum to 1.")
    .pytorch("torch.softmax(attn, -1) on what a function gave that has its own")
    .chapter("scores-softmax-scale")
    .report("zyy-2001/DisKT #6"),
    Mistake::new("log-softmax", Step::Softmax, "log_softmax for softmax", |r| {
        r.softmax = Softmax::Logarithm;
    })
    .does("Weights are their logarithms, all negative.")
    .plausible("It is what losses are made of.")
    .pytorch("F.log_softmax(scores, dim=-1)")
    .jax("nn.log_softmax(scores)")
    .candle("candle_nn::ops::log_softmax(&scores, D::Minus1)?")
    .chapter("scores-softmax-scale"),
    Mistake::new("softmax-base-two", Step::Softmax, "powers of 2 in the softmax", |r| {
        r.softmax = Softmax::BaseTwo;
    })
    .does("Powers of 2 in place of e: maps are flatter.")
    .plausible("Fast kernels take powers of 2, of scores multiplied by log2(e).")
    .pytorch("torch.exp2(scores - scores.amax(-1, keepdim=True))")
    .chapter("scores-softmax-scale"),
    Mistake::new("sigmoid", Step::Softmax, "sigmoid for softmax", |r| {
        r.softmax = Softmax::Sigmoid;
    })
    .does("Each weight is between 0 and 1, and rows do not sum to 1.")
    .plausible("Weights are between 0 and 1.")
    .pytorch("torch.sigmoid(scores)")
    .chapter("scores-softmax-scale"),
    Mistake::new("attn-transposed", Step::Values, "attention map transposed", |r| {
        r.values = Values::Transposed;
    })
    .does("Values are averaged by a column in place of a row.")
    .plausible("In self-attention the map is square.")
    .pytorch("attn.transpose(-2, -1) @ v")
    .jax("jnp.einsum('bhij,bhid->bhjd', attn, v) where 'bhij,bhjd->bhid' was meant")
    .candle("attn.t()?.matmul(&v)?")
    .chapter("one-head")
    .report("leaderj1001/Attention-Augmented-Conv2d #6"),
    Mistake::new("values-not-averaged", Step::Values, "values not averaged", |r| {
        r.values = Values::Unweighted;
    })
    .does("Each token gets its own value: no token reads another.")
    .plausible("The shape is right.")
    .pytorch("v is merged where attn @ v was meant")
    .chapter("one-head"),
];
