//! Why a training cannot begin or must end.

/// A result whose error is this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a training cannot begin or must end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Sizes that do not fit one another.
    #[error(transparent)]
    Sizes(#[from] attention::Error),

    /// Tokens that the model does not have, or too many of them.
    #[error(transparent)]
    Block(#[from] block::Error),

    /// A change of the formula that does not fit.
    #[error(transparent)]
    Variants(#[from] variants::Error),

    /// Answers that are none of the classes there are.
    #[error(transparent)]
    Loss(#[from] gradients::Error),

    /// An ablation of what is not there, or what is no count.
    #[error(transparent)]
    Ablation(#[from] ablation::Error),

    /// No file of tensors, or one without a tensor of a converter of dates, or with another.
    #[error(transparent)]
    Tensors(#[from] tensors::Error),

    /// A file of a converter of dates without one of its sizes.
    #[error("the file's header does not say {key}")]
    NoSize {
        /// Which.
        key: &'static str,
    },

    /// One with a size that is none.
    #[error("the file's header says {key}: {found:?}, which is no number")]
    Size {
        /// Which.
        key: &'static str,
        /// What it says.
        found: String,
    },

    /// One with a tensor that a converter does not have.
    #[error("the file has a tensor {name}, and a converter of these sizes has none")]
    UnknownTensor {
        /// Its name.
        name: String,
    },

    /// A loss that is no number any more, or that has exploded: no later step can be
    /// trusted.
    #[error(
        "training diverged at step {step}: the loss is {loss} and was {first} at step 0; \
         try a rate below {rate}"
    )]
    Diverged {
        /// The first step at which it shows, counted from 0.
        step: usize,
        /// The loss of that step.
        loss: f64,
        /// The loss of step 0.
        first: f64,
        /// How far a step goes at most.
        rate: f64,
    },

    /// A rate that is no length of a step.
    #[error("the rate is {rate}, and must be a number above 0")]
    Rate {
        /// The rate asked for.
        rate: f64,
    },

    /// Periods that no sequence can have.
    #[error(
        "periods of {shortest} to {longest} cannot be drawn: each is 1 to {n_vocabulary} \
         tokens, all different"
    )]
    Periods {
        /// The shortest period asked for.
        shortest: usize,
        /// The longest.
        longest: usize,
        /// The number of different tokens.
        n_vocabulary: usize,
    },

    /// A letter that no date has.
    #[error(
        "letter {position} of the text is {letter:?}, counted from 0, and the model knows \
         only these: {known:?}"
    )]
    UnknownLetter {
        /// The letter.
        letter: char,
        /// Where it stands.
        position: usize,
        /// The letters that can be read.
        known: &'static str,
    },

    /// More letters than are read.
    #[error("the text has {n_letters} letters, and the model reads at most {most}")]
    TextTooLong {
        /// The number of letters.
        n_letters: usize,
        /// The most that there can be.
        most: usize,
    },
}
