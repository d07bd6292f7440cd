//! What can be wrong with a file of maps, with the names and numbers that say so.

use tensors::name_text;

/// A result whose error is this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A row of a map, by its layer, its head and its query, all from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The layer.
    pub layer: usize,
    /// The head in it.
    pub head: usize,
    /// The query.
    pub query: usize,
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { layer, head, query } = self;
        write!(f, "layer {layer}, head {head}, query {query}")
    }
}

/// Why maps are not read. `file` says which one, as it was given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields are what the message says they are
pub enum Error {
    /// A file with a name or a text of metadata that is not known to be harmless.
    #[error(transparent)]
    Files(#[from] model_files::Error),

    /// A file of tensors that cannot be read, or a tensor of another shape or kind.
    #[error(transparent)]
    Tensors(#[from] tensors::Error),

    /// A file of something else.
    #[error("{file}: no attention maps: there is neither `attn` nor `attn.0`")]
    NoMaps { file: String },

    /// One form or the other.
    #[error(
        "{file}: both `attn` and {} are there: maps are in one form",
        name_text(other)
    )]
    BothForms { file: String, other: String },

    /// A tensor that is none of those that are known.
    #[error(
        "{file}: {} is no map: besides `attn` or `attn.L` only `attention_mask` is read",
        name_text(tensor)
    )]
    Unknown { file: String, tensor: String },

    /// More maps than there is memory for.
    #[error(
        "{file}: its maps have {n_shares} shares, and {most} at most are read: keep fewer \
         texts, layers or tokens in a file"
    )]
    Size { file: String, n_shares: u128, most: u128 },

    /// A layer that is not there, before one that is.
    #[error(
        "{file}: attn.{missing} is missing: layers are counted from 0, and {} is there",
        name_text(last)
    )]
    Hole { file: String, missing: usize, last: String },

    /// A share that is no number.
    #[error(
        "{file}: {row}: the share of key {key} is NaN. A row of which every key is masked \
         gives this; an `attention_mask` in the file cuts padding"
    )]
    NotANumber { file: String, row: Row, key: usize },

    /// A share that no softmax gives.
    #[error(
        "{file}: {row}: the share of key {key} is {value}, and a share is between 0 and 1: \
         {looks}"
    )]
    NoShare { file: String, row: Row, key: usize, value: f64, looks: String },

    /// Tokens, flags or names that are not one per query or key.
    #[error("{file}: {what} has {found} entries, and the maps have {expected} {of}")]
    Count { file: String, what: String, found: usize, expected: usize, of: &'static str },

    /// More lists than texts, or fewer.
    #[error(
        "{file}: {key} in its metadata is of {found} text{}, and the maps are of {n_texts}{hint}",
        if *found == 1 { "" } else { "s" }
    )]
    Texts { file: String, key: &'static str, found: usize, n_texts: usize, hint: String },

    /// A special token among the patches.
    #[error(
        "{file}: token {token} is special, and the grid of {rows}x{cols} has its patch \
         {place} there: special tokens stand before the grid. Put it first, as key and as query"
    )]
    InGrid { file: String, token: String, place: String, rows: usize, cols: usize },

    /// A text of the metadata in another form than it must have.
    #[error("{file}: {key} in its metadata is not {expected}")]
    Metadata { file: String, key: &'static str, expected: &'static str },

    /// A mask that says neither yes nor no.
    #[error(
        "{file}: attention_mask holds {value} for text {text}: 1 is a token, 0 is padding"
    )]
    MaskValue { file: String, text: usize, value: i128 },

    /// A mask that leaves nothing.
    #[error("{file}: text {text} is all padding")]
    AllPadding { file: String, text: usize },

    /// A text file of tokens for several texts.
    #[error(
        "{file}: a file of tokens is for one text, and the maps are of {n_texts}: give them \
         in the metadata, as a list of lists"
    )]
    TokensOfMany { file: String, n_texts: usize },

    /// Two answers to one question.
    #[error(
        "{file}: `queries` and `places` are both in its metadata: tokens of another text ask, or \
         those of this one at these places"
    )]
    WhoAsks { file: String },

    /// A query that is none of the tokens.
    #[error(
        "{file}: places in its metadata has {place}, which is none of its {n} tokens, or padding"
    )]
    Place { file: String, place: usize, n: usize },

    /// A grid that has more places than there are tokens.
    #[error("{file}: a grid of {rows}x{cols} has {} places, and the maps have {n} keys", *rows as u128 * *cols as u128)]
    Grid { file: String, rows: usize, cols: usize, n: usize },
}
