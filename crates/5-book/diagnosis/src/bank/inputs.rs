//! Axes, and which input is which.

use crate::Mistake;
use crate::mistake::Need;
use crate::recipe::{Axes, Role};
use crate::step::Step;

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake::new("batch-axis", Step::Inputs, "batch axis taken for the sequence", |r| {
        r.axes = Axes::Exchanged;
    })
    .does("A token attends to the tokens at its place in the other sequences of the batch.")
    .plausible("Every shape fits, and with one sequence a token attends to itself alone.")
    .pytorch("nn.MultiheadAttention(…, batch_first=True) is missing: the default is (n, batch, d)")
    .jax("attention over axis 0 of (batch, n, d), or a vmap over the wrong in_axes")
    .candle("q.matmul(&k.t()?) on (n, batch, d) without a transpose(0, 1) before it")
    .chapter("one-matrix-many-heads")
    .report("aipixel/AEMatter #3; om-ai-lab/OmDet #19; kyegomez/movie-gen #8")
    .needs(&[Need::Batch]),
    Mistake::new("keys-from-query", Step::Inputs, "keys and values from the query's input", |r| {
        r.projections[1].input = Role::Query;
        r.projections[2].input = Role::Query;
    })
    .does("The layer attends within the query's sequence and never reads the other one.")
    .plausible("With equal lengths every shape fits, and in self-attention nothing changes.")
    .pytorch("attn(x, x, x) where attn(x, memory, memory) was meant")
    .chapter("masks")
    .needs(&[Need::Cross]),
    Mistake::new("only-keys-from-query", Step::Inputs, "keys from the query's input", |r| {
        r.projections[1].input = Role::Query;
    })
    .does("Scores compare the query's tokens with each other, and values come from elsewhere.")
    .plausible("With equal lengths every shape fits.")
    .pytorch("k = self.k_proj(query)")
    .chapter("masks")
    .report("apple/ml-cvnets #81")
    .needs(&[Need::Cross]),
    Mistake::new("values-from-query", Step::Inputs, "values from the query's input", |r| {
        r.projections[2].input = Role::Query;
    })
    .does("Weights are those of the keys, and average the query's own tokens.")
    .plausible("With equal lengths every shape fits.")
    .pytorch("v = self.v_proj(query)")
    .chapter("masks")
    .report("yanghongji2007/cross_view_localization_L2LTR #1; tensorflow/tensorflow #34696")
    .needs(&[Need::Cross]),
    Mistake::new("key-and-value-inputs", Step::Inputs, "inputs of keys and values exchanged", |r| {
        r.projections[1].input = Role::Value;
        r.projections[2].input = Role::Key;
    })
    .does("W^K reads the value's input and W^V the key's.")
    .plausible("They are mostly one tensor, and then nothing changes.")
    .pytorch("attn(query, value, key)")
    .chapter("one-head")
    .needs(&[Need::Cross]),
    Mistake::new("values-from-keys", Step::Inputs, "values from the key's input", |r| {
        r.projections[2].input = Role::Key;
    })
    .does("W^V reads the key's input in place of the value's.")
    .plausible("They are mostly one tensor, and then nothing changes.")
    .pytorch("v = self.v_proj(key)")
    .chapter("one-head")
    .needs(&[Need::Cross]),
    Mistake::new("queries-from-keys", Step::Inputs, "queries from the key's input", |r| {
        r.projections[0].input = Role::Key;
    })
    .does("W^Q reads the key's input: the query's is never read.")
    .plausible("With equal lengths every shape fits.")
    .pytorch("q = self.q_proj(memory)")
    .chapter("masks")
    .needs(&[Need::Cross]),
];
