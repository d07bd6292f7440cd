//! From heads to the output.

use crate::Mistake;
use crate::mistake::Need;
use crate::recipe::{Activation, Addition, Merge, Mixing, MixingProduct};
use crate::step::Step;

const SHAPE: &str =
    "The shape is right: only the order of the numbers is not. It trains, too.";

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake::new("merged-without-transpose", Step::Merge, "merged without transpose", |r| {
        r.merge = Merge::View;
    })
    .does("A token's row is filled with the rows of one head, and tokens are mixed.")
    .plausible(SHAPE)
    .pytorch("out.reshape(b, n, d) where out.transpose(1, 2).reshape(b, n, d) was meant")
    .jax("out.reshape(b, n, d) where out.swapaxes(1, 2).reshape(b, n, d) was meant")
    .candle("out.reshape((b, n, d))? where out.transpose(1, 2)?.reshape((b, n, d))? was meant")
    .chapter("one-matrix-many-heads")
    .report("jsbaan/transformer-from-scratch #6; ajhalthor/Transformer-Neural-Network #8; meta-pytorch/opacus #825; 649453932/Chinese-Text-Classification-Pytorch #10")
    .needs(&[Need::Heads]),
    Mistake::new("merged-interleaved", Step::Merge, "merged feature by feature", |r| {
        r.merge = Merge::Interleaved;
    })
    .does("Features of heads take turns, in place of one head beside the other.")
    .plausible(SHAPE)
    .pytorch("out.permute(0, 2, 3, 1).reshape(b, n, d) where permute(0, 2, 1, 3) was meant")
    .jax("rearrange(out, 'b h n d -> b n (d h)') where '(h d)' was meant")
    .chapter("one-matrix-many-heads")
    .needs(&[Need::Heads]),
    Mistake::new("merged-by-wrong-axes", Step::Merge, "merged with the wrong axes transposed", |r| {
        r.merge = Merge::WrongAxes;
    })
    .does("Tokens and features are exchanged in each head before the heads are merged.")
    .plausible(SHAPE)
    .pytorch("out.transpose(2, 3).reshape(b, n, d) where transpose(1, 2) was meant")
    .candle("out.transpose(2, 3)?.reshape((b, n, d))?")
    .chapter("one-matrix-many-heads")
    .needs(&[Need::Heads]),
    Mistake::new("merged-over-batch", Step::Merge, "batch and heads exchanged in the merge", |r| {
        r.merge = Merge::HeadsBeforeBatch;
    })
    .does("Matrices of (batch, heads) are read as (heads, batch): sequences are mixed.")
    .plausible("With one sequence it is right.")
    .pytorch("out.view(h, b, n, d_k) where out.view(b, h, n, d_k) was meant")
    .jax("rearrange(out, '(h b) n d -> b n (h d)') where '(b h)' was meant")
    .chapter("one-matrix-many-heads")
    .report("lsdefine/attention-is-all-you-need-keras #36")
    .needs(&[Need::Batch, Need::Heads]),
    Mistake::new("heads-reversed", Step::Merge, "heads merged in reversed order", |r| {
        r.merge = Merge::Reversed;
    })
    .does("The last head stands where the first should.")
    .plausible("Each head is right by itself.")
    .pytorch("torch.cat(heads[::-1], dim=-1)")
    .chapter("one-matrix-many-heads")
    .needs(&[Need::Heads]),
    Mistake::new("heads-averaged", Step::Merge, "heads averaged", |r| r.merge = Merge::Mean)
        .does("Every head's place holds the mean of all heads.")
        .plausible("A sum over heads is right behind W^O, and not before.")
        .pytorch("out.mean(1, keepdim=True).expand_as(out)")
        .chapter("a-lens-per-head")
        .report("awf/functional-transformer #8")
        .needs(&[Need::Heads]),
    Mistake::new("first-head-for-all", Step::Merge, "first head in every place", |r| {
        r.merge = Merge::First;
    })
    .does("The first head is repeated in the places of the others.")
    .plausible("An index that is not the loop's.")
    .pytorch("torch.cat([heads[0] for _ in range(h)], dim=-1)")
    .chapter("a-lens-per-head")
    .needs(&[Need::Heads]),
    Mistake::new("output-not-transposed", Step::Output, "W^O not transposed", |r| {
        r.mixing.product = MixingProduct::Transposed;
    })
    .does("W^O is multiplied as it is stored, concat W in place of concat Wᵀ.")
    .plausible("A square matrix hides it: every shape fits, and so do the numbers' sizes.")
    .pytorch("concat @ self.W_o.weight where self.W_o(concat) was meant")
    .jax("concat @ w with a w from PyTorch, where Flax's kernel would be w.T")
    .candle("concat.matmul(&w)? where concat.matmul(&w.t()?)? was meant")
    .chapter("trained-heads")
    .report("skyzh/tiny-llm #41; pytorch/pytorch #129834")
    .needs(&[Need::Output]),
    Mistake::new("output-left-out", Step::Output, "W^O left out", |r| {
        r.mixing.product = MixingProduct::None;
    })
    .does("Heads stand side by side, and nothing mixes them.")
    .plausible("The merged heads are as wide as the output.")
    .pytorch("return concat where return self.W_o(concat) was meant")
    .chapter("a-lens-per-head")
    .report("Kyubyong/transformer #117; ethen8181/machine-learning #13; huggingface/transformers #8814")
    .needs(&[Need::Output]),
    Mistake::new("output-twice", Step::Output, "W^O twice", |r| {
        r.mixing.product = MixingProduct::Twice;
    })
    .does("The output is projected once more.")
    .plausible("The layer has its own W^O, and so has the code that calls it.")
    .pytorch("self.out_proj(self.attn(x)) with an attn that projects")
    .chapter("a-lens-per-head")
    .report("bcaitech1/p4-dkt-no_caffeine_no_gain #75")
    .needs(&[Need::Output]),
    Mistake::new("first-block-for-all", Step::Output, "all heads by the first rows of W^O", |r| {
        r.mixing.product = MixingProduct::FirstBlock;
    })
    .does("Heads are summed, and the sum is multiplied by the first d_k rows of W^O.")
    .plausible("A sum of heads is right where each has its own rows.")
    .pytorch("sum(heads) @ W_o[:d_k]")
    .chapter("a-lens-per-head")
    .report("awf/functional-transformer #8")
    .needs(&[Need::Output, Need::Heads]),
    Mistake::new("output-bias-left-out", Step::Output, "bias of W^O left out", |r| {
        r.mixing.bias = 0;
    })
    .does("Every output lacks one and the same vector.")
    .plausible("Biases start at zero, so an untrained layer gives the same.")
    .pytorch("concat @ W_o.T without + b_o")
    .chapter("counting")
    .needs(&[Need::OutputBias]),
    Mistake::new("output-bias-twice", Step::Output, "bias of W^O twice", |r| r.mixing.bias = 2)
        .does("W^O's bias is added, and added once more.")
        .plausible("Biases start at zero, so an untrained layer gives the same.")
        .pytorch("self.W_o(concat) + self.W_o.bias")
        .chapter("counting")
        .needs(&[Need::OutputBias]),
    Mistake::new("output-bias-per-head", Step::Output, "bias of W^O once a head", |r| {
        r.mixing.bias = Mixing::PER_HEAD;
    })
    .does("Each head adds W^O's bias, so it is there h times.")
    .plausible("Σ head_i W_i^O is right, and + b belongs behind the sum.")
    .pytorch("sum(F.linear(head, W_o[:, i], b_o) for …)")
    .chapter("a-lens-per-head")
    .needs(&[Need::OutputBias, Need::Heads]),
    Mistake::new("relu-on-output", Step::Output, "ReLU on the output", |r| {
        r.activation = Activation::Output;
    })
    .does("Negative entries of the output become 0.")
    .plausible("Other layers have a ReLU.")
    .pytorch("F.relu(self.W_o(concat))")
    .chapter("the-block")
    .report("Kyubyong/transformer #17"),
    Mistake::new("residual-inside", Step::Addition, "input added", |r| {
        r.addition = Addition::Residual;
    })
    .does("The layer adds its input, and the block around it does so too.")
    .plausible("A block needs it, once.")
    .pytorch("return self.W_o(concat) + query")
    .chapter("the-block"),
    Mistake::new("residual-of-value", Step::Addition, "value's input added", |r| {
        r.addition = Addition::ResidualOfValue;
    })
    .does("The value's input is added, and in cross-attention that is the other sequence.")
    .plausible("In self-attention it is the residual connection.")
    .pytorch("return self.W_o(concat) + value")
    .chapter("the-block")
    .report("georgepar/slp #26")
    .needs(&[Need::Cross]),
    Mistake::new("projected-query-added", Step::Addition, "projected query added", |r| {
        r.addition = Addition::ProjectedQuery;
    })
    .does("The residual connection starts behind W^Q and not before it.")
    .plausible("One name, query, for two tensors.")
    .pytorch("query = self.W_q(query); …; return self.W_o(concat) + query")
    .chapter("the-block"),
    Mistake::new("norm-inside", Step::Addition, "output normalised", |r| {
        r.addition = Addition::Norm;
    })
    .does("Rows have mean 0 and variance 1: a layer norm without weights of its own.")
    .plausible("A block has norms.")
    .pytorch("F.layer_norm(out, (d,))")
    .chapter("the-block"),
    Mistake::new("residual-and-norm-inside", Step::Addition, "input added and normalised", |r| {
        r.addition = Addition::ResidualThenNorm;
    })
    .does("The layer does what the block around it does: the input is added, then a layer norm.")
    .plausible("Some code has it all in one module.")
    .pytorch("self.layer_norm(out + residual), with a norm as it is at the start")
    .chapter("the-block"),
    Mistake::new("padding-zeroed", Step::Addition, "rows of padding set to 0", |r| {
        r.addition = Addition::ZeroPadding;
    })
    .does("Outputs of padded tokens are 0.")
    .plausible("Nobody should read them.")
    .pytorch("out.masked_fill(padding.unsqueeze(-1), 0)")
    .chapter("masks")
    .needs(&[Need::Padding]),
];
