//! What can be done up to the heads' queries, keys and values.

/// Which axis of the input the sequences lie along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Axes {
    /// Tokens attend to tokens of their sequence.
    Meant,
    /// The two axes are exchanged: a token attends to those at its place in other sequences.
    Exchanged,
}

/// How the columns of a packed W are given to q, k and v.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Packing {
    /// As the layer's maker packed it.
    Meant,
    /// `(3, h, d_k)`: all of q, all of k, all of v.
    #[default]
    Blocks,
    /// `(h, 3, d_k)`: q, k and v of head 0, then of head 1.
    HeadByHead,
    /// `(h, d_k, 3)`: feature by feature.
    Features,
    /// The blocks in the order k, v, q.
    KeyFirst,
    /// The blocks in the order v, q, k.
    ValueFirst,
    /// The blocks in the order q, v, k.
    ValueSecond,
    /// The blocks in the order k, q, v.
    KeyThenQuery,
}

/// A projection's weight, or what goes into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    Query,
    Key,
    Value,
}

/// How q, k or v is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Projection {
    /// Which input is projected.
    pub input: Role,
    /// By which weight and bias.
    pub weight: Role,
    /// How the weight is multiplied.
    pub product: Product,
    /// How often the bias is added.
    pub bias: u8,
}

impl Projection {
    /// Those of q, k and v as they were meant.
    pub const RIGHT: [Self; 3] =
        [Self::of(Role::Query), Self::of(Role::Key), Self::of(Role::Value)];

    const fn of(role: Role) -> Self {
        Self { input: role, weight: role, product: Product::Meant, bias: 1 }
    }
}

/// How a weight is multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Product {
    /// `x W`.
    Meant,
    /// `x Wᵀ`.
    Transposed,
    /// Not at all: x stays as it is.
    None,
    /// Each head reads only the slice of x that is as wide as it.
    Slices,
    /// Twice, with its bias.
    Twice,
}

/// On which projections there is a ReLU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Activation {
    None,
    Projections,
    Output,
    All,
}

impl Activation {
    /// The same without the output's.
    pub fn of_projections(self) -> Self {
        match self {
            Self::Projections | Self::All => Self::Projections,
            Self::None | Self::Output => Self::None,
        }
    }

    /// Whether the output has one.
    pub fn is_on_output(self) -> bool {
        matches!(self, Self::Output | Self::All)
    }
}

/// How q, k and v, `[n, h · d_k]`, become heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Split {
    /// `view(n, h, d_k)`, then transposed to `(h, n, d_k)`.
    Meant,
    /// `view(h, n, d_k)` at once.
    View,
    /// The same for the values alone.
    ViewOfValues,
    /// The same for queries and keys, and the values as they should be.
    ViewOfKeys,
    /// `view(n, d_k, h)`: every h-th feature is of one head.
    Interleaved,
    /// Transposed to `(h · d_k, n)` first, then `reshape(h, n, d_k)`.
    AfterTranspose,
    /// `view(n, h, d_k)`, never transposed: a token's heads attend to each other.
    AcrossHeads,
    /// d_k heads of width h.
    Exchanged,
    /// Heads of k and v from last to first.
    KeysReversed,
}

/// How positions rotate queries and keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rotary {
    /// As was meant, which may be not at all.
    Meant,
    /// Halves for pairs, or pairs for halves.
    OtherPairing,
    None,
    ValuesToo,
    QueriesAlone,
    KeysAlone,
    /// By the opposite angle.
    Reversed,
    /// Queries one way and keys the other.
    KeysReversed,
    /// By twice the angle: rotated twice.
    Twice,
    /// With the exponent p / d_k in place of 2p / d_k.
    HalfExponent,
    /// With the exponent 2p / d_model.
    ExponentOfModel,
    /// Over the whole width before the split, and not head by head.
    WholeWidth,
    /// By the number of the head and not of the token.
    ByHead,
    /// With the base 500,000 where another was meant, or 10,000 where that was.
    OtherBase,
    SineForCosine,
    /// Without the minus in front of the second entry.
    WithoutMinus,
    /// Halves by the angles of pairs, or pairs by those of halves.
    AnglesOfOther,
    QueriesAhead,
    FirstHead,
    /// With the exponent (2p + 1) / d_k.
    OddExponent,
    /// The first half of each head's entries alone.
    HalfOfHead,
    /// Halves where no rotation was meant.
    UnmeantHalves,
    /// Pairs where no rotation was meant.
    UnmeantPairs,
    /// Queries as if the first stood at position 0.
    QueriesFromZero,
    /// Keys as if the first stood at position 0, where they have positions of their own.
    KeysFromZero,
    /// Queries as if padding in front of them counted, where keys have positions of their own.
    PaddingCounted,
    /// Keys by twice the angle.
    KeysTwice,
    /// Keys before the first query by twice the angle.
    CachedKeysTwice,
}

/// Which head of keys and values a query head reads, where there are fewer of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sharing {
    /// Each serves neighbours: 0, 0, 1, 1.
    Meant,
    /// They take turns: 0, 1, 0, 1.
    Tiled,
    /// Keys as they should be, and values in turns.
    ValuesTiled,
    First,
    Mean,
    /// Tokens are repeated and not heads: a head's sequence goes on in the next head.
    AlongSequence,
}
