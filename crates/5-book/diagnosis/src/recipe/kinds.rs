//! What can be done with what only some layers have: norms of queries and keys, windows,
//! slopes and sinks. Where a layer has none of it, each choice does nothing.

/// How queries and keys are normed, before they are rotated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Norms {
    Meant,
    None,
    AfterRotation,
    /// Over all heads together where each has a norm of its own, or the other way about.
    OtherWidth,
    /// Over all tokens of a sequence together.
    OverTokens,
    WithoutGain,
}

/// Which keys a window leaves, where one was meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Window {
    Meant,
    /// All.
    None,
    /// One more.
    Wider,
    /// One fewer.
    Narrower,
    /// The last keys before a query as if the first query stood at position 0.
    FromZero,
}

/// What is added to scores by distance, where that was meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Slopes {
    Meant,
    None,
    /// What is far is preferred.
    Opposite,
    /// Those of the heads from last to first.
    Reversed,
    /// 2^(−8i/h) whatever h is, and i from 1 on.
    AnyPower,
    /// Counted from head 0 on: 2^(−8i/h) and i from 0 on.
    FromZero,
    /// From the steepest to the flattest, where the paper's are not.
    Sorted,
    /// Those of the first half of the heads, and then once more.
    FirstHalf,
}

/// What becomes of a head's sink, a score of its own whose weight is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sinks {
    Meant,
    None,
    Twice,
    /// It is divided as scores are.
    Scaled,
    /// It stands first, and the weight of the last key is dropped in place of its own.
    LastDropped,
}
