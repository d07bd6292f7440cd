//! From heads to the output.

use super::projections::Product;

choice! {
    /// How heads, `(h, n, d_v)`, are put side by side: as was meant, transposed to `(n, h, d_v)`,
    /// then by `view(n, h · d_v)`.
    merge: Merge at Merge {
        Meant;
        View = "merged-without-transpose", [Heads]; // `view(n, h · d_v)` at once
        Interleaved = "merged-interleaved", [Heads]; // transposed to `(n, d_v, h)`
        WrongAxes = "merged-by-wrong-axes", [Heads]; // transposed to `(h, d_v, n)`
        HeadsBeforeBatch = "merged-over-batch", [Batch, Heads]; // heads as sequences
        Reversed = "heads-reversed", [Heads]; // from the last head to the first
        Mean = "heads-averaged", [Heads]; // in every head's place
        First = "first-head-for-all", [Heads]; // in every head's place
    }
}

/// The projection of the merged heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mixing {
    /// How W^O is multiplied.
    pub product: Product,
    /// How often its bias is added: 0, 1, 2, or [`Mixing::PER_HEAD`].
    pub bias: u8,
}

impl Mixing {
    /// `concat W^O + b^O`.
    pub const RIGHT: Self = Self { product: Product::Meant, bias: 1 };
    /// The bias is added once for each head.
    pub const PER_HEAD: u8 = u8::MAX;
}

mistakes! { at Output:
    "output-not-transposed", [Output], |r| r.mixing.product = Product::Transposed;
    "output-left-out", [Output], |r| r.mixing.product = Product::None;
    "output-twice", [Output], |r| r.mixing.product = Product::Twice;
    "first-block-for-all", [Output, Heads], |r| r.mixing.product = Product::FirstBlock;
    "output-bias-left-out", [OutputBias], |r| r.mixing.bias = 0;
    "output-bias-twice", [OutputBias], |r| r.mixing.bias = 2;
    "output-bias-per-head", [OutputBias, Heads], |r| r.mixing.bias = Mixing::PER_HEAD;
    "relu-on-output", [], |r| r.relu_on_output = true;
}

choice! {
    /// What is done with the output.
    addition: Addition at Addition {
        Nothing;
        Residual = "residual-inside", []; // the query's input is added
        ResidualOfValue = "residual-of-value", [Cross]; // the value's input is
        ProjectedQuery = "projected-query-added", [];
        Norm = "norm-inside", []; // whose gain is 1 and whose bias is 0
        ResidualThenNorm = "residual-and-norm-inside", [];
        ZeroPadding = "padding-zeroed", [Padding]; // rows of padded tokens are set to 0
    }
}
