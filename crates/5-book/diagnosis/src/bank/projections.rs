//! q, k and v, and their biases.

use crate::Mistake;
use crate::mistake::Need;
use crate::recipe::{Activation, MixingProduct, Product, Recipe, Role};
use crate::step::Step;

const SQUARE: &str =
    "A square matrix hides it: every shape fits, and so do the numbers' sizes.";

const fn all_products(r: &mut Recipe, product: Product) {
    r.projections[0].product = product;
    r.projections[1].product = product;
    r.projections[2].product = product;
}

const fn no_bias(r: &mut Recipe) {
    r.projections[0].bias = 0;
    r.projections[1].bias = 0;
    r.projections[2].bias = 0;
}

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake::new("no-weight-transposed", Step::Projections, "no weight transposed", |r| {
        all_products(r, Product::Transposed);
        r.mixing.product = MixingProduct::Transposed;
    })
    .does("All four weights are multiplied as they are stored, x W in place of x Wᵀ.")
    .plausible(SQUARE)
    .pytorch("x @ layer.weight where F.linear(x, layer.weight) = x @ layer.weight.T was meant")
    .jax("x @ w with a w from PyTorch, where Flax's kernel would be w.T")
    .candle("x.matmul(&w)? where x.matmul(&w.t()?)? was meant")
    .chapter("trained-heads")
    .report("pytorch/pytorch #129834; mindspore-lab/mindone #399")
    .needs(&[Need::Output]),
    Mistake::new("qkv-not-transposed", Step::Projections, "W^Q, W^K and W^V not transposed", |r| {
        all_products(r, Product::Transposed);
    })
    .does("The three weights are multiplied as they are stored, x W in place of x Wᵀ.")
    .plausible(SQUARE)
    .pytorch("x @ self.W_q.weight")
    .candle("x.matmul(&w)? where x.matmul(&w.t()?)? was meant")
    .chapter("trained-heads")
    .report("skyzh/tiny-llm #41; skyzh/tiny-llm #60"),
    Mistake::new("q-not-transposed", Step::Projections, "W^Q not transposed", |r| {
        r.projections[0].product = Product::Transposed;
    })
    .does("W^Q is multiplied as it is stored.")
    .plausible(SQUARE)
    .pytorch("q = x @ self.W_q.weight")
    .chapter("trained-heads")
    .report("pytorch/pytorch #129834"),
    Mistake::new("k-not-transposed", Step::Projections, "W^K not transposed", |r| {
        r.projections[1].product = Product::Transposed;
    })
    .does("W^K is multiplied as it is stored.")
    .plausible(SQUARE)
    .pytorch("k = x @ self.W_k.weight")
    .chapter("trained-heads")
    .report("pytorch/pytorch #129834"),
    Mistake::new("v-not-transposed", Step::Projections, "W^V not transposed", |r| {
        r.projections[2].product = Product::Transposed;
    })
    .does("W^V is multiplied as it is stored.")
    .plausible(SQUARE)
    .pytorch("v = x @ self.W_v.weight")
    .chapter("trained-heads")
    .report("pytorch/pytorch #129834"),
    Mistake::new("biases-left-out", Step::Projections, "biases left out", |r| {
        no_bias(r);
        r.mixing.bias = 0;
    })
    .does("No bias is added, though the layer has them.")
    .plausible("Biases start at zero, so an untrained layer gives the same.")
    .pytorch("x @ W.T without + b, or nn.Linear(…, bias=False) loaded with strict=False")
    .chapter("counting")
    .report("harvardnlp/annotated-transformer #95")
    .needs(&[Need::Bias, Need::OutputBias]),
    Mistake::new("qkv-biases-left-out", Step::Projections, "biases of q, k and v left out", no_bias)
    .does("Only W^O's bias is added.")
    .plausible("Biases start at zero, so an untrained layer gives the same.")
    .pytorch("nn.Linear(d, d, bias=False) for q, k and v, loaded with strict=False")
    .chapter("counting")
    .report("jadore801120/attention-is-all-you-need-pytorch #133")
    .needs(&[Need::Bias]),
    Mistake::new("q-bias-left-out", Step::Projections, "bias of q left out", |r| {
        r.projections[0].bias = 0;
    })
    .does("q has no bias.")
    .plausible("Biases start at zero, so an untrained layer gives the same.")
    .pytorch("q = x @ W_q.T")
    .chapter("counting")
    .needs(&[Need::Bias]),
    Mistake::new("k-bias-left-out", Step::Projections, "bias of k left out", |r| {
        r.projections[1].bias = 0;
    })
    .does("k has no bias: a query's scores all change by one number, which the softmax forgets.")
    .plausible("Without rotary positions no output shows it.")
    .pytorch("k = x @ W_k.T")
    .chapter("counting")
    .report("baaivision/EVA #53; facebookresearch/dinov3 #58")
    .needs(&[Need::Bias]),
    Mistake::new("v-bias-left-out", Step::Projections, "bias of v left out", |r| {
        r.projections[2].bias = 0;
    })
    .does("v has no bias: every output lacks b^V W^O.")
    .plausible("Maps are right, and biases start at zero.")
    .pytorch("v = x @ W_v.T")
    .chapter("counting")
    .needs(&[Need::Bias]),
    Mistake::new("biases-twice", Step::Projections, "biases of q, k and v added twice", |r| {
        r.projections[0].bias = 2;
        r.projections[1].bias = 2;
        r.projections[2].bias = 2;
    })
    .does("The projections add their biases, and they are added once more.")
    .plausible("Biases start at zero, so an untrained layer gives the same.")
    .pytorch("self.q_proj(x) + self.q_proj.bias")
    .chapter("counting")
    .needs(&[Need::Bias]),
    Mistake::new("q-k-exchanged", Step::Projections, "W^Q and W^K exchanged", |r| {
        r.projections[0].weight = Role::Key;
        r.projections[1].weight = Role::Query;
    })
    .does("Queries are made by W^K and keys by W^Q: without a mask, scores are transposed.")
    .plausible("Both have one shape.")
    .pytorch("q, k = self.W_k(x), self.W_q(x)")
    .chapter("one-head"),
    Mistake::new("k-v-exchanged", Step::Projections, "W^K and W^V exchanged", |r| {
        r.projections[1].weight = Role::Value;
        r.projections[2].weight = Role::Key;
    })
    .does("Keys are made by W^V and values by W^K.")
    .plausible("Both have one shape.")
    .pytorch("k, v = self.W_v(x), self.W_k(x)")
    .chapter("one-head"),
    Mistake::new("q-v-exchanged", Step::Projections, "W^Q and W^V exchanged", |r| {
        r.projections[0].weight = Role::Value;
        r.projections[2].weight = Role::Query;
    })
    .does("Queries are made by W^V and values by W^Q.")
    .plausible("Both have one shape.")
    .pytorch("q, v = self.W_v(x), self.W_q(x)")
    .chapter("one-head"),
    Mistake::new("one-weight-for-all", Step::Projections, "W^K used for q, k and v", |r| {
        r.projections[0].weight = Role::Key;
        r.projections[2].weight = Role::Key;
    })
    .does("q, k and v of a token are the same numbers.")
    .plausible("A name is copied from line to line; every shape fits, and it trains.")
    .pytorch("q, k, v = self.key(query), self.key(key), self.key(value)")
    .chapter("one-head")
    .report("Khaliladib11/Transformer-from-scratch #1"),
    Mistake::new("q-used-for-all", Step::Projections, "W^Q used for q, k and v", |r| {
        r.projections[1].weight = Role::Query;
        r.projections[2].weight = Role::Query;
    })
    .does("q, k and v of a token are the same numbers.")
    .plausible("A name is copied from line to line; every shape fits, and it trains.")
    .pytorch("q, k, v = self.query(query), self.query(key), self.query(value)")
    .chapter("one-head")
    .report("stevezheng23/reading_comprehension_tf #284"),
    Mistake::new("k-used-for-v", Step::Projections, "W^K used for v", |r| {
        r.projections[2].weight = Role::Key;
    })
    .does("Keys are averaged in place of values, and W^V is never read.")
    .plausible("A name is copied from the line above; maps are right.")
    .pytorch("value = self.k_proj(value)")
    .chapter("one-head")
    .report("yflyzhang/AnnotatedTransformer #1; ruvnet/agentic-flow #191"),
    Mistake::new("q-used-for-k", Step::Projections, "W^Q used for k", |r| {
        r.projections[1].weight = Role::Query;
    })
    .does("A token scores itself highest, since its key is its query.")
    .plausible("A name is copied from the line above.")
    .pytorch("k = self.q_proj(key)")
    .chapter("one-head"),
    Mistake::new("v-not-projected", Step::Projections, "values not projected", |r| {
        r.projections[2].product = Product::None;
    })
    .does("The inputs themselves are averaged, and W^V is never read.")
    .plausible("An input is as wide as a value.")
    .pytorch("v = value where v = self.W_v(value) was meant")
    .chapter("a-lens-per-head")
    .report("maoyunyao/JOINT #2"),
    Mistake::new("nothing-projected", Step::Projections, "q, k and v not projected", |r| {
        all_products(r, Product::None);
    })
    .does("Heads are slices of the input itself.")
    .plausible("An input is as wide as a projection.")
    .pytorch("q = query.view(b, n, h, d_k).transpose(1, 2) without self.W_q before")
    .chapter("a-lens-per-head"),
    Mistake::new("input-sliced", Step::Projections, "input split before it is projected", |r| {
        all_products(r, Product::Slices);
    })
    .does("Each head reads only its own slice of the input.")
    .plausible("Heads are often drawn as slices of the input, and every shape fits.")
    .pytorch("x.view(b, n, h, d_k) before self.W_q, which is then d_k × d_k a head")
    .chapter("a-lens-per-head")
    .report("MarcoMeter/episodic-transformer-memory-ppo #22")
    .needs(&[Need::Heads]),
    Mistake::new("projected-twice", Step::Projections, "q, k and v projected twice", |r| {
        all_products(r, Product::Twice);
    })
    .does("What was projected is projected once more by the same weights.")
    .plausible("The layer projects by itself, and so does the code that calls it.")
    .pytorch("mha(mha.q_proj(x), …): nn.MultiheadAttention projects what it is given")
    .chapter("a-lens-per-head")
    .report("bcaitech1/p4-dkt-no_caffeine_no_gain #75"),
    Mistake::new("relu-on-projections", Step::Projections, "ReLU on q, k and v", |r| {
        r.activation = Activation::Projections;
    })
    .does("Negative entries of q, k and v become 0, so no score is negative.")
    .plausible("Other layers have a ReLU, and in some libraries it is the default.")
    .pytorch("F.relu(self.W_q(x))")
    .jax("nn.relu(nn.Dense(d)(x))")
    .chapter("a-lens-per-head")
    .report("CyberZHG/keras-multi-head #8; DeepGraphLearning/RecommenderSystems #21; hanxiao/tf-nlp-blocks #1"),
    Mistake::new("relu-on-all", Step::Projections, "ReLU on q, k, v and the output", |r| {
        r.activation = Activation::All;
    })
    .does("Negative entries of q, k, v and of the output become 0.")
    .plausible("Other layers have a ReLU, and in some libraries it is the default.")
    .pytorch("F.relu(self.W_q(x)), F.relu(self.W_o(concat))")
    .chapter("a-lens-per-head")
    .report("CyberZHG/keras-multi-head #8"),
];
