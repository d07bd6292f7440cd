//! What can be wrong with an encoder's files, or with what it is asked to read.

/// A result whose error is this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a model cannot be read or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields are what the message says they are
pub enum Error {
    /// Settings that a model cannot have.
    #[error("{file}: its sizes make no layer")]
    Config { file: String, source: attention::Error },

    /// A folder, settings, weights, a text or ids that cannot be read or do not fit.
    #[error(transparent)]
    Files(#[from] model_files::Error),

    /// A file of tensors that cannot be read, or a tensor of another shape or kind.
    #[error(transparent)]
    Tensors(#[from] tensors::Error),

    /// Tokens that the model cannot read.
    #[error(transparent)]
    Tokens(#[from] block::Error),

    /// Sizes that do not fit together.
    #[error(transparent)]
    Sizes(#[from] attention::Error),

    /// A type of token that the model does not have.
    #[error("token {position} is of type {found}, and the model has {n_types} types")]
    Type { position: usize, found: usize, n_types: usize },

    /// An ablation of what is not there.
    #[error(transparent)]
    Ablation(#[from] ablation::Error),

    /// Another example's output in the stead of a head, which in the weights cannot be.
    #[error(
        "a head of a whole model is replaced by zeros or by its mean: what it says in \
         another example is no constant"
    )]
    NoConstant,

    /// A model that gives no numbers.
    #[error(
        "NaN or infinity begins {place}, counted from 0: the model's weights are not finite \
         there, or too large for this precision"
    )]
    NotFinite { place: block::NotFinite },

    /// A layer that the model does not have.
    #[error("there is no layer {layer}: the model has {n_layers}, from 0")]
    Layer { layer: usize, n_layers: usize },
}
