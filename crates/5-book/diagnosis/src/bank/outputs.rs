//! From heads to the output.

use crate::recipe::{Activation, Addition, Merge, Mixing, MixingProduct};

mistakes! {
    Merge, "merged-without-transpose", [Heads], |r| r.merge = Merge::View;
    Merge, "merged-interleaved", [Heads], |r| r.merge = Merge::Interleaved;
    Merge, "merged-by-wrong-axes", [Heads], |r| r.merge = Merge::WrongAxes;
    Merge, "merged-over-batch", [Batch, Heads], |r| r.merge = Merge::HeadsBeforeBatch;
    Merge, "heads-reversed", [Heads], |r| r.merge = Merge::Reversed;
    Merge, "heads-averaged", [Heads], |r| r.merge = Merge::Mean;
    Merge, "first-head-for-all", [Heads], |r| r.merge = Merge::First;
    Output, "output-not-transposed", [Output],
        |r| r.mixing.product = MixingProduct::Transposed;
    Output, "output-left-out", [Output], |r| r.mixing.product = MixingProduct::None;
    Output, "output-twice", [Output], |r| r.mixing.product = MixingProduct::Twice;
    Output, "first-block-for-all", [Output, Heads],
        |r| r.mixing.product = MixingProduct::FirstBlock;
    Output, "output-bias-left-out", [OutputBias], |r| r.mixing.bias = 0;
    Output, "output-bias-twice", [OutputBias], |r| r.mixing.bias = 2;
    Output, "output-bias-per-head", [OutputBias, Heads],
        |r| r.mixing.bias = Mixing::PER_HEAD;
    Output, "relu-on-output", [], |r| r.activation = Activation::Output;
    Addition, "residual-inside", [], |r| r.addition = Addition::Residual;
    Addition, "residual-of-value", [Cross], |r| r.addition = Addition::ResidualOfValue;
    Addition, "projected-query-added", [], |r| r.addition = Addition::ProjectedQuery;
    Addition, "norm-inside", [], |r| r.addition = Addition::Norm;
    Addition, "residual-and-norm-inside", [], |r| r.addition = Addition::ResidualThenNorm;
    Addition, "padding-zeroed", [Padding], |r| r.addition = Addition::ZeroPadding;
}
