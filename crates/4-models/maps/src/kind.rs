//! What a key is to a query.

/// What a key is to a query. Each key is of one kind, the first that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The special token at the start: `[CLS]`, `<s>`.
    First,
    /// A special token elsewhere: `[SEP]`, `</s>`.
    Last,
    /// The query itself.
    Same,
    /// The token before.
    Previous,
    /// The token after.
    Next,
    /// Any other token.
    Other,
}

impl Kind {
    /// All kinds, in the order of [`Glance::shares`](crate::Glance::shares).
    pub const ALL: [Self; 6] =
        [Self::First, Self::Last, Self::Same, Self::Previous, Self::Next, Self::Other];

    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Last => "last",
            Self::Same => "same",
            Self::Previous => "previous",
            Self::Next => "next",
            Self::Other => "other",
        }
    }
}
