//! What can be wrong with a loss.

/// Why a loss cannot be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Sizes that do not fit together.
    #[error(transparent)]
    Sizes(#[from] attention::Error),

    /// A class that the rows of logits do not have.
    #[error("row {row} is of class {class}, and there are {n_classes} classes, from 0")]
    Class {
        /// The row of the logits.
        row: usize,
        /// Its class.
        class: usize,
        /// The number of classes, which is the width of the logits.
        n_classes: usize,
    },
}
