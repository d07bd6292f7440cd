//! What cannot be ablated, and what is no count.

/// A result whose error is this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why nothing can be ablated or counted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Sizes that do not fit one another.
    #[error(transparent)]
    Sizes(#[from] attention::Error),

    /// More hits than there are.
    #[error("{hits} of {n} is no count: there are more than all")]
    Count {
        /// How many are to count.
        hits: usize,
        /// Of how many.
        n: usize,
    },

    /// A layer that the model does not have.
    #[error("there is no layer {layer} in a model of {n_layers}: they count from 0")]
    NoSuchLayer {
        /// The layer asked for.
        layer: usize,
        /// The number of layers.
        n_layers: usize,
    },

    /// A head that the layer does not have.
    #[error("there is no head {head} in a layer of {n_heads}: they count from 0")]
    NoSuchHead {
        /// The head asked for.
        head: usize,
        /// The number of heads.
        n_heads: usize,
    },
}

impl Error {
    /// Refuses a layer that the model does not have.
    ///
    /// # Errors
    /// [`Error::NoSuchLayer`].
    pub fn expect_layer(layer: usize, n_layers: usize) -> Result<()> {
        if layer < n_layers { Ok(()) } else { Err(Self::NoSuchLayer { layer, n_layers }) }
    }

    /// Refuses a head that the layer does not have.
    ///
    /// # Errors
    /// [`Error::NoSuchHead`].
    pub fn expect_head(head: usize, n_heads: usize) -> Result<()> {
        if head < n_heads { Ok(()) } else { Err(Self::NoSuchHead { head, n_heads }) }
    }
}
