//! What can be wrong with a reader's files, and with what they are to do.

use model_files::MOST_SHOWN;

/// Why there is nothing to look at.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the fields are what the message says they are
pub enum Error {
    /// A file that the model cannot be made of.
    #[error(transparent)]
    Files(#[from] model_files::Error),

    /// A file of tensors that cannot be read, or a tensor of another shape or kind.
    #[error(transparent)]
    Tensors(#[from] tensors::Error),

    /// A tokenizer or a text that the model cannot read.
    #[error(transparent)]
    Text(#[from] texts::Error),

    /// A layer that cannot be diagnosed.
    #[error(transparent)]
    Layer(#[from] diagnosis::Error),

    /// A model that writes nothing was to write.
    #[error("no model that writes was read")]
    WritesNot,

    /// A model that writes was to show whole maps.
    #[error("no model of sentences was read")]
    LooksNot,

    /// A model that does not go on with a text was to be tested on names.
    #[error("no model that goes on with a text was read")]
    GoesNotOn,

    /// A model or a text that does not fit.
    #[error(transparent)]
    Model(#[from] models::Error),

    /// A text that is longer than a page draws.
    #[error(
        "the text has {n_tokens} tokens, and a page draws the maps of up to {MOST_SHOWN}"
    )]
    LongPage { n_tokens: usize },

    /// Files of which no model can be made.
    #[error(
        "{names}: no model that this page reads: that is one GGUF file, NAME.gguf, or \
         config.json, tokenizer.json and model.safetensors of a folder"
    )]
    NoModel { names: String },

    /// A model that is larger than what the page may have.
    #[error("{file}: the page cannot have memory for its {n_bytes} bytes")]
    Memory { file: String, n_bytes: u64 },

    /// A model that could be read, and not made ready to write.
    #[error(
        "{file}: the page has memory for its {n_bytes} bytes, and none for the {more} more \
         that its weights take as they are multiplied: a page has 4 GiB at most"
    )]
    Packed { file: String, n_bytes: usize, more: usize },

    /// Parts that do not add up to the file.
    #[error("{file}: {found} bytes were read, and the file has {expected}")]
    Parts { file: String, found: usize, expected: usize },

    /// Too few names to tell an order.
    #[error("{found} names, and at least 3 are needed, with commas between")]
    Names { found: usize },

    /// A name of which nobody can tell which one is meant.
    #[error("{name:?} stands there twice: names must differ")]
    NameTwice { name: String },

    /// Names that fill more than the model's positions.
    #[error(
        "the names take {n_tokens} tokens, each name twice, and the model has {n_positions} positions"
    )]
    LongNames { n_tokens: usize, n_positions: usize },
}
