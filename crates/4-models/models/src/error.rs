//! What can be wrong with a model's files, or with what it is asked to read.

use attention::{Matrix, Real};
use model_files::GgufError;

/// A result whose error is this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a model cannot be read or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields are what the message says they are
pub enum Error {
    /// A folder, settings, weights or ids.
    #[error(transparent)]
    Files(#[from] model_files::Error),

    /// A file of tensors that cannot be read, or a tensor of another shape or kind.
    #[error(transparent)]
    Tensors(#[from] tensors::Error),

    /// A tokenizer or a text.
    #[cfg(feature = "text")]
    #[error(transparent)]
    Text(Box<texts::Error>),

    /// A GGUF file.
    #[error(transparent)]
    Gguf(#[from] GgufError),

    /// Settings that a model cannot have.
    #[error("{file}: its sizes make no layer")]
    Config { file: String, source: attention::Error },

    /// Sizes that do not fit together; tokens, layers or heads that are not there.
    #[error(transparent)]
    Sizes(#[from] attention::Error),

    /// A type of token that the model does not have.
    #[error("token {position} is of type {found}, and the model has {n_types} types")]
    Type { position: usize, found: usize, n_types: usize },

    /// Another example's output instead of a head's, which in the weights cannot be.
    #[error(
        "a head of a whole model is replaced by zeros or by its mean: what it says in \
         another example is no constant"
    )]
    NoConstant,

    /// A token that a text does not have.
    #[error("there is no token {position} in a text of {n_tokens}: they count from 0")]
    Position { position: usize, n_tokens: usize },

    /// Two texts that cannot stand in for each other, token by token.
    #[error(
        "one text has {n_from} tokens and the other {n_to}: what a head puts out is put into \
         the other text token by token, so they need as many"
    )]
    Lengths { n_from: usize, n_to: usize },

    /// Caches that were not given the same tokens.
    #[error(
        "the cache of layer {layer} has seen {found} tokens, and that of layer 0 has seen \
         {n_seen}"
    )]
    Caches { layer: usize, found: usize, n_seen: usize },

    /// Positions of a file for attention that counts them itself.
    #[error(
        "positions are given, and this attention counts them itself: the decoder as it is \
         read takes them"
    )]
    Positions,

    /// A model that gives no numbers.
    #[error(
        "NaN or infinity begins {place}, counted from 0: the model's weights are not finite \
         there, or too large for this precision"
    )]
    NotFinite { place: block::NotFinite },

    /// The same of the last step alone.
    #[error(
        "NaN or infinity begins in the logits: the unembedding is not finite, or too large \
         for this precision"
    )]
    LogitsNotFinite,

    /// A sequence of several that the model cannot read.
    #[error("sequence {sequence}")]
    Sequence { sequence: usize, source: Box<Error> },

    /// Logits of which none can be chosen.
    #[error(
        "{found} of {n_logits} logits are NaN or infinite: the model's weights are not \
         finite, or too large for f32; `cargo learn model` says in which layer it begins"
    )]
    Logits { found: usize, n_logits: usize },

    /// A temperature by which nothing can be divided.
    #[error("the temperature is {found}, expected a number above 0")]
    Temperature { found: f64 },

    /// No token to draw from.
    #[error("top-k is {found}, expected at least 1 token")]
    TopK { found: usize },

    /// A nucleus that no chances make.
    #[error("top-p is {found}, expected a number above 0 and at most 1")]
    TopP { found: f64 },

    /// A beam search that keeps no text.
    #[error("the width of the beam is {found}, expected at least 1 text")]
    BeamWidth { found: usize },

    /// A power of a length by which no score can be divided.
    #[error("the length penalty is {found}, expected a finite number")]
    LengthPenalty { found: f64 },

    /// A text that would grow beyond the model's positions.
    #[error(
        "the text has {n_text} tokens, and {n_new} more are to be written: the model has \
         {n_positions} positions"
    )]
    Room { n_text: usize, n_new: usize, n_positions: usize },

    /// A model that was to write, and only reads.
    #[error("a model of the family {family} reads, and does not write")]
    WritesNot { family: &'static str },

    /// A model that was asked for the maps of one text.
    #[error("a model of the family {family} reads one text and writes another")]
    TwoTexts { family: &'static str },

    /// A head's name that is none, or that of another kind of model.
    #[error(
        "{name:?} is no head: a head is its layer and its number, both from 0, as in 5.7"
    )]
    HeadName { name: String },

    /// The same in a model with three kinds of heads.
    #[error(
        "{name:?} is no head: a head is its part (source, written or cross), its layer and \
         its number, as in cross 5.7"
    )]
    PartName { name: String },

    /// A model that was saved without what makes logits.
    #[error(
        "the model was saved without its head, and has no logits: there is no {tensor}, and \
         its config.json does not say that the embedding is in its place"
    )]
    NoHead { tensor: String },

    /// A change of the attention that the fast kernels do not have.
    #[error("the fast decoder has no {what}")]
    NotFast { what: &'static str },
}

impl Error {
    /// Sizes that make no layer, as this file says them.
    pub(crate) fn config(file: &str) -> impl Fn(attention::Error) -> Self {
        move |source| Self::Config { file: file.to_owned(), source }
    }

    /// Compares concatenations that are to stand in for a pass's own: one for each layer, of
    /// the same shape.
    pub(crate) fn expect_concats<T: Real>(
        n_layers: usize,
        own: &[Matrix<T>],
        instead: &[Matrix<T>],
    ) -> attention::Result<()> {
        let n = instead.len();
        attention::Error::expect_length("the list of concatenations", n_layers, n)?;
        let mut both = own.iter().zip(instead);
        both.try_for_each(|(own, other)| {
            let what = "the concatenation of a layer";
            attention::Error::expect_shape(what, own.shape(), other.shape())
        })
    }
}

#[cfg(feature = "text")]
impl From<texts::Error> for Error {
    fn from(error: texts::Error) -> Self {
        Self::Text(Box::new(error))
    }
}
