//! What cannot be diagnosed.

use tensors::names_text;
use thiserror::Error;

use crate::step::State;

/// Why a record cannot be read as a layer.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields are what the message says they are
pub enum Error {
    /// There is nothing to compare with.
    #[error("there is no output: what the code gave is what is looked at")]
    NoOutput,
    /// There is no sequence, or one of no token.
    #[error("the inputs have no token")]
    NoTokens,
    /// Heads must share the width.
    #[error(
        "{width} columns of W^{projection} cannot be divided among {heads} heads: {width} = \
         {heads} × {} + {}",
        width / heads,
        width % heads
    )]
    Heads { projection: char, width: usize, heads: usize },
    /// No head at all.
    #[error("a layer has at least one head")]
    NoHeads,
    /// Query heads must share key heads evenly.
    #[error("{heads} query heads cannot share {kv_heads} heads of keys evenly")]
    KeyHeads { heads: usize, kv_heads: usize },
    /// An input does not fit its projection.
    #[error(
        "the input of W^{projection} has {found} columns, and W^{projection} reads {expected}"
    )]
    Input { projection: char, found: usize, expected: usize },
    /// A tensor is not of the shape that it should be.
    #[error(
        "{} is {found_matrices} matrices of {}×{}, and the inputs and heads make \
         {matrices} of {}×{}",
        state.name(), found.0, found.1, expected.0, expected.1
    )]
    Shape {
        state: State,
        found_matrices: usize,
        found: (usize, usize),
        matrices: usize,
        expected: (usize, usize),
    },
    /// Queries and keys must be of one width.
    #[error("a head's queries have {d_k} entries, and its keys {found}")]
    KeyWidth { d_k: usize, found: usize },
    /// Entries are rotated by twos.
    #[error(
        "rotary positions need an even number of entries in a head, and d_k is {d_k}"
    )]
    OddWidth { d_k: usize },
    /// A norm of queries or keys is of another width.
    #[error(
        "the norm behind W^{projection} has {found} gains, and should have {of_head}, those of \
         a head, or {width}, those of all"
    )]
    Norm { projection: char, found: usize, of_head: usize, width: usize },
    /// There is not one number for each head.
    #[error("{name} has {found} numbers, and there are {heads} heads")]
    PerHead { name: &'static str, found: usize, heads: usize },
    /// A window of no key.
    #[error("a window has at least one key")]
    NoWindow,
    /// W^O does not read what heads give.
    #[error("W^O reads {found} numbers, and {heads} heads give {expected}")]
    OutputInput { found: usize, heads: usize, expected: usize },
    /// A packed W has not as many columns as heads of one width need.
    #[error(
        "{columns} columns of a packed W cannot be divided among {heads} heads of q and \
         {kv_heads} each of k and v"
    )]
    Packed { columns: usize, heads: usize, kv_heads: usize },
    /// No parameters were found by their names.
    #[error(
        "no layer was found. It has W^Q, W^K and W^V under names such as in_proj_weight, \
         W_q.weight, q_proj.weight, query.weight, c_attn.weight or qkv.weight; here are {}. \
         Say which is which: --name W_q=NAME",
        names_text(names)
    )]
    NoLayer { names: Vec<String> },
    /// Several layers, or none with the prefix that was said.
    #[error("which layer? Say --prefix with one of: {}", names_text(prefixes))]
    SeveralLayers { prefixes: Vec<String> },
    /// There is no input.
    #[error("there is no input: query, x, input or hidden_states")]
    NoInput,
    /// The inputs' lengths differ where they must not.
    #[error(
        "{name} has {} sequences of {} tokens; query has {batch} sequences, and key and value \
         are of one length",
        found.0, found.1
    )]
    Lengths { name: &'static str, found: (usize, usize), batch: usize },
    /// Nobody says how many heads there are, and no number or several give the output.
    #[error(
        "how many heads? No file stores it, and not one number that divides {width} gives \
         this output: say --heads"
    )]
    UnknownHeads { width: usize },
    /// What the metadata says decides what was meant, and is not known.
    #[error("the metadata says {key} = {text:?}, which should be {expected}")]
    Metadata { key: String, text: String, expected: &'static str },
    /// A number that no code can compute with.
    #[error("{what} is {found}, which should be {expected}")]
    Number { what: &'static str, found: f64, expected: &'static str },
    /// More entries than there is memory for.
    #[error(
        "its tensors have {n} entries, and {most} at most are read: a few short sequences, \
         and a small layer of the same code, show as much"
    )]
    Entries { n: u128, most: u128 },
    /// More scores than there is memory for.
    #[error(
        "{n_q} queries on {n_kv} keys in {heads} heads, {batch} times, have {n} scores, and \
         {most} at most are computed: a few short sequences show as much"
    )]
    Scores { n_q: usize, n_kv: usize, heads: usize, batch: usize, n: u128, most: u128 },
    /// A tensor that is not read, and may make the layer another one.
    #[error("{}: {why}", model_files::shown(name))]
    Unread { name: String, why: &'static str },
    /// Queries have a norm and keys have none, or the other way about.
    #[error(
        "{} is there, and the norm of the other one of queries and keys is not",
        model_files::shown(name)
    )]
    OneNorm { name: String },
    /// Positions that cannot be those of queries and keys.
    #[error(
        "{name} is no list of positions: cache_position counts up from 0 or more, and \
         key_positions stand beside positions, those of queries"
    )]
    Positions { name: &'static str },
    /// A file's tensor cannot be read.
    #[error(transparent)]
    File(#[from] model_files::Error),
    /// A file of tensors that cannot be read, or a tensor of another shape or kind.
    #[error(transparent)]
    Tensors(#[from] tensors::Error),
    /// A weight and its bias do not fit.
    #[error(transparent)]
    Layer(#[from] attention::Error),
    /// An input or a parameter is not finite, which explains all that follows.
    #[error("{0} has NaN or an infinity in it")]
    NotFinite(&'static str),
}

/// What can fail.
pub type Result<T> = std::result::Result<T, Error>;
