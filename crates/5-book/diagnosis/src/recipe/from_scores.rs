//! What can be done from the scores to the output.

/// How a query is compared with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Similarity {
    /// `q kᵀ`.
    Product,
    /// `k qᵀ`.
    Transposed,
    /// The cosine of the angle between them.
    Cosine,
    /// `q · k.view(d_k, n)`: numbers of k in another shape, and no transpose.
    Reshaped,
}

/// What scores are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scale {
    /// √d_k, or what was meant.
    Meant,
    None,
    /// √d_model.
    RootOfModel,
    /// d_k.
    Width,
    /// d_model.
    Model,
    /// Multiplied by √d_k.
    Multiplied,
    /// √h.
    RootOfHeads,
    /// √n_kv.
    RootOfKeys,
    /// d_k^(1/4): the root of what it should be.
    QuarterRoot,
    /// Attention weights are divided, after the softmax.
    AfterSoftmax,
    /// √d_k where another was meant.
    RootOfWidth,
}

/// How scores are bounded, where a bound was meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cap {
    /// `cap · tanh(s / cap)`.
    Meant,
    None,
    /// `tanh(s / cap)`.
    WithoutProduct,
    /// `cap · tanh(s)`.
    WithoutQuotient,
    /// `s · tanh(s / cap)`.
    ScoreForCap,
    BeforeScale,
    AfterMask,
}

/// Which keys a causal mask leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Causal {
    /// As was meant, which may be all.
    Meant,
    /// All keys.
    None,
    /// A mask where none was meant.
    Unmeant,
    /// Not the token itself.
    WithoutItself,
    /// One key of the future too.
    OneAhead,
    /// The future, and the token itself.
    Future,
    /// Aligned to the first key where it should be to the last, or the other way about.
    OtherCorner,
}

/// How a mask is put on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Masking {
    Meant,
    None,
    /// With the opposite sign.
    Opposite,
    /// Rows for columns: queries for keys.
    Transposed,
    FirstSequence,
    /// Repeated as 0, 1, 0, 1, where heads of a sequence lie together.
    Tiled,
    /// Repeated as 0, 0, 1, 1, where sequences of a head lie together.
    Repeated,
    FirstHead,
    /// As if padding stood at the other end.
    OtherEnd,
    /// Added before scores are divided.
    BeforeScale,
    /// With the key before the first that a row leaves open.
    Wider,
    /// The first key of the padding is open.
    OneShort,
    /// A key is open if this mask or the causal one opens it.
    Joined,
}

/// What becomes of the scores of blocked keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fill {
    /// −∞, or a number as low.
    MinusInfinity,
    /// −1e−9.
    MinusNano,
    /// 0, as by a product with the mask.
    Zero,
    /// −1e4, which a score may be below.
    MinusTenThousand,
    /// −1.
    MinusOne,
    /// 1e9.
    Large,
    /// The mask's 1 is added to the scores of blocked keys.
    BlockedPlusOne,
    /// The mask's 1 is added to the scores of open keys.
    OpenPlusOne,
    /// Weights of blocked keys are set to 0, after the softmax.
    AfterSoftmax,
    /// Open keys are blocked and the blocked are open.
    Opposite,
    /// Keys of the last tile, if it is not full, are blocked too.
    LastTileToo,
    /// The mask is put on the first tile of keys alone.
    FirstTileAlone,
}

/// What makes attention weights of scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Softmax {
    /// Rows sum to 1.
    OverKeys,
    /// Columns sum to 1.
    OverQueries,
    /// Heads sum to 1.
    OverHeads,
    /// Sequences sum to 1.
    OverBatch,
    /// A map sums to 1.
    OverMap,
    /// A query's maps of all heads sum to 1.
    OverHeadsAndKeys,
    None,
    Twice,
    /// Logarithms of weights.
    Logarithm,
    /// Powers of 2 and not of e.
    BaseTwo,
    /// Each score alone, by the sigmoid.
    Sigmoid,
    /// One more score of 0 in the sum, whose weight nobody gets.
    PlusOne,
    /// 1 more in the sum, after the largest score was subtracted.
    PlusOneLate,
    /// Scores divided by their sum.
    NoExponential,
    /// Exponentials that are not divided by their sum.
    NotDivided,
    /// Keys that fill the last tile count with a score of 0.
    ZeroFilled,
    /// Tile by tile, and the sum stays as it is where the largest score grows.
    SumNotRescaled,
    /// The same of the output.
    OutputNotRescaled,
    /// The output is divided where it should be multiplied.
    OutputDivided,
    /// Weights are 0 or by one factor too large, as the record's own map says.
    Dropped,
}

/// What the attention weights average.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Values {
    /// `attn V`.
    Average,
    /// `attnᵀ V`.
    Transposed,
    /// Nothing: V stays as it is.
    Unweighted,
    /// As meant in the first tile of a head's columns, and 0 in the others.
    FirstTile,
}

/// How heads, `(h, n, d_v)`, are put side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Merge {
    /// Transposed to `(n, h, d_v)`, then `view(n, h · d_v)`.
    Meant,
    /// `view(n, h · d_v)` at once.
    View,
    /// Transposed to `(n, d_v, h)`: feature by feature.
    Interleaved,
    /// Transposed to `(h, d_v, n)`.
    WrongAxes,
    /// From the last head to the first.
    Reversed,
    /// The mean of all heads, in every head's place.
    Mean,
    /// Read as if the heads' axis stood before the sequences'.
    HeadsBeforeBatch,
    /// The first head in every head's place.
    First,
}

/// The projection of the merged heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mixing {
    /// How W^O is multiplied.
    pub product: MixingProduct,
    /// How often its bias is added: 0, 1, 2, or [`Mixing::PER_HEAD`].
    pub bias: u8,
}

impl Mixing {
    /// `concat W^O + b^O`.
    pub const RIGHT: Self = Self { product: MixingProduct::Meant, bias: 1 };
    /// The bias is added once for each head.
    pub const PER_HEAD: u8 = u8::MAX;
}

/// How W^O is multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MixingProduct {
    /// `concat W^O`.
    Meant,
    /// `concat W^Oᵀ`.
    Transposed,
    /// Not at all, its bias left out with it.
    None,
    /// Twice, with its bias.
    Twice,
    /// Every head by the rows of the first.
    FirstBlock,
}

/// What is done with the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Addition {
    Nothing,
    /// The query's input is added.
    Residual,
    /// The value's input is added.
    ResidualOfValue,
    ProjectedQuery,
    /// A norm whose gain is 1 and whose bias is 0.
    Norm,
    /// The input is added, then the norm.
    ResidualThenNorm,
    /// Rows of padded tokens are set to 0.
    ZeroPadding,
}
