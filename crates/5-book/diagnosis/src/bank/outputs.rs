//! From heads to the output.

use crate::Mistake;
use crate::mistake::Need;
use crate::recipe::{Activation, Addition, Merge, Mixing, MixingProduct};
use crate::step::Step;

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake::new("merged-without-transpose", Step::Merge, |r| {
        r.merge = Merge::View;
    })
    .needs(&[Need::Heads]),
    Mistake::new("merged-interleaved", Step::Merge, |r| {
        r.merge = Merge::Interleaved;
    })
    .needs(&[Need::Heads]),
    Mistake::new("merged-by-wrong-axes", Step::Merge, |r| {
        r.merge = Merge::WrongAxes;
    })
    .needs(&[Need::Heads]),
    Mistake::new("merged-over-batch", Step::Merge, |r| {
        r.merge = Merge::HeadsBeforeBatch;
    })
    .needs(&[Need::Batch, Need::Heads]),
    Mistake::new("heads-reversed", Step::Merge, |r| {
        r.merge = Merge::Reversed;
    })
    .needs(&[Need::Heads]),
    Mistake::new("heads-averaged", Step::Merge, |r| r.merge = Merge::Mean)
        .needs(&[Need::Heads]),
    Mistake::new("first-head-for-all", Step::Merge, |r| {
        r.merge = Merge::First;
    })
    .needs(&[Need::Heads]),
    Mistake::new("output-not-transposed", Step::Output, |r| {
        r.mixing.product = MixingProduct::Transposed;
    })
    .needs(&[Need::Output]),
    Mistake::new("output-left-out", Step::Output, |r| {
        r.mixing.product = MixingProduct::None;
    })
    .needs(&[Need::Output]),
    Mistake::new("output-twice", Step::Output, |r| {
        r.mixing.product = MixingProduct::Twice;
    })
    .needs(&[Need::Output]),
    Mistake::new("first-block-for-all", Step::Output, |r| {
        r.mixing.product = MixingProduct::FirstBlock;
    })
    .needs(&[Need::Output, Need::Heads]),
    Mistake::new("output-bias-left-out", Step::Output, |r| {
        r.mixing.bias = 0;
    })
    .needs(&[Need::OutputBias]),
    Mistake::new("output-bias-twice", Step::Output, |r| r.mixing.bias = 2)
        .needs(&[Need::OutputBias]),
    Mistake::new("output-bias-per-head", Step::Output, |r| {
        r.mixing.bias = Mixing::PER_HEAD;
    })
    .needs(&[Need::OutputBias, Need::Heads]),
    Mistake::new("relu-on-output", Step::Output, |r| {
        r.activation = Activation::Output;
    }),
    Mistake::new("residual-inside", Step::Addition, |r| {
        r.addition = Addition::Residual;
    }),
    Mistake::new("residual-of-value", Step::Addition, |r| {
        r.addition = Addition::ResidualOfValue;
    })
    .needs(&[Need::Cross]),
    Mistake::new("projected-query-added", Step::Addition, |r| {
        r.addition = Addition::ProjectedQuery;
    }),
    Mistake::new("norm-inside", Step::Addition, |r| {
        r.addition = Addition::Norm;
    }),
    Mistake::new("residual-and-norm-inside", Step::Addition, |r| {
        r.addition = Addition::ResidualThenNorm;
    }),
    Mistake::new("padding-zeroed", Step::Addition, |r| {
        r.addition = Addition::ZeroPadding;
    })
    .needs(&[Need::Padding]),
];
