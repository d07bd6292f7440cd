//! How far the Line is drawn.

use super::Station;

/// A step of the way, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LineStep {
    /// The words alone.
    Words,
    /// Their rows.
    Rows,
    /// Queries, keys and values.
    Project,
    /// The first query meets the keys.
    FirstScores,
    /// So does the second.
    SecondScores,
    /// So does the third.
    Scores,
    /// The scores are divided by √d_k.
    Scale,
    /// The mask blocks some, or none.
    Mask,
    /// The exponential of each.
    Exp,
    /// Each divided by the sum of its row.
    Softmax,
    /// The values are mixed.
    Mix,
    /// The heads side by side.
    Concat,
    /// W^O.
    Output,
    /// What comes out is added to what came in, and goes on.
    Add,
}

impl LineStep {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Words,
        Self::Rows,
        Self::Project,
        Self::FirstScores,
        Self::SecondScores,
        Self::Scores,
        Self::Scale,
        Self::Mask,
        Self::Exp,
        Self::Softmax,
        Self::Mix,
        Self::Concat,
        Self::Output,
        Self::Add,
    ];

    /// Where it is.
    pub fn station(self) -> Station {
        match self {
            Self::Words | Self::Rows => Station::Words,
            Self::Project => Station::Project,
            Self::FirstScores | Self::SecondScores => Station::Scores,
            Self::Scores | Self::Scale => Station::Scores,
            Self::Mask => Station::Mask,
            Self::Exp | Self::Softmax => Station::Softmax,
            Self::Mix => Station::Mix,
            Self::Concat => Station::Concat,
            Self::Output => Station::Output,
            Self::Add => Station::Out,
        }
    }

    /// How many rows of scores are there.
    pub(super) fn n_rows(self) -> usize {
        match self {
            Self::Words | Self::Rows | Self::Project => 0,
            Self::FirstScores => 1,
            Self::SecondScores => 2,
            _ => 3,
        }
    }
}

/// From when on a head's matrix is there, in the order that a head lists them in.
pub(super) fn of_matrix(nth: usize) -> LineStep {
    match nth {
        0..3 => LineStep::Project,
        3 => LineStep::Scores,
        4 => LineStep::Scale,
        5 => LineStep::Mask,
        6 => LineStep::Exp,
        7 => LineStep::Softmax,
        _ => LineStep::Mix,
    }
}
