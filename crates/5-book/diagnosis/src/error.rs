//! What cannot be diagnosed.

use tensors::names_text;
use thiserror::Error;

use crate::step::State;

/// Why a record cannot be read as a layer.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs)] // each is what its message says, and so are its fields
pub enum Error {
    #[error("there is no output: what the code gave is what is looked at")]
    NoOutput,
    #[error("the inputs have no token")]
    NoTokens,
    #[error(
        "{width} columns of W^{projection} cannot be divided among {heads} heads: {width} = \
         {heads} × {} + {}",
        width / heads,
        width % heads
    )]
    Heads { projection: char, width: usize, heads: usize },
    #[error("a layer has at least one head")]
    NoHeads,
    #[error("{heads} query heads cannot share {kv_heads} heads of keys evenly")]
    KeyHeads { heads: usize, kv_heads: usize },
    #[error(
        "the input of W^{projection} has {found} columns, and W^{projection} reads {expected}"
    )]
    Input { projection: char, found: usize, expected: usize },
    #[error(
        "{} is {} matrices of {}×{}, and the inputs and heads make {} of {}×{}",
        state.name(), found[0], found[1], found[2], expected[0], expected[1], expected[2]
    )]
    Shape { state: State, found: [usize; 3], expected: [usize; 3] },
    #[error("a head's queries have {d_k} entries, and its keys {found}")]
    KeyWidth { d_k: usize, found: usize },
    #[error(
        "rotary positions need an even number of entries in a head, and d_k is {d_k}"
    )]
    OddWidth { d_k: usize },
    #[error(
        "the norm behind W^{projection} has {found} gains, and should have {of_head}, those of \
         a head, or {width}, those of all"
    )]
    Norm { projection: char, found: usize, of_head: usize, width: usize },
    #[error("{name} has {found} numbers, and there are {heads} heads")]
    PerHead { name: &'static str, found: usize, heads: usize },
    #[error("a window has at least one key")]
    NoWindow,
    #[error("W^O reads {found} numbers, and {heads} heads give {expected}")]
    OutputInput { found: usize, heads: usize, expected: usize },
    #[error(
        "{columns} columns of a packed W cannot be divided among {heads} heads of q and \
         {kv_heads} each of k and v"
    )]
    Packed { columns: usize, heads: usize, kv_heads: usize },
    #[error(
        "no layer was found. It has W^Q, W^K and W^V under names such as in_proj_weight, \
         W_q.weight, q_proj.weight, query.weight, c_attn.weight or qkv.weight; here are {}. \
         Say which is which: --name W_q=NAME",
        names_text(names)
    )]
    NoLayer { names: Vec<String> },
    #[error("which layer? Say --prefix with one of: {}", names_text(prefixes))]
    SeveralLayers { prefixes: Vec<String> },
    #[error("there is no input: query, x, input or hidden_states")]
    NoInput,
    #[error(
        "{name} has {} sequences of {} tokens; query has {batch} sequences, and key and value \
         are of one length",
        found.0, found.1
    )]
    Lengths { name: &'static str, found: (usize, usize), batch: usize },
    #[error(
        "how many heads? No file stores it, and not one number that divides {width} gives \
         this output: say --heads"
    )]
    UnknownHeads { width: usize },
    #[error("the metadata says {key} = {text:?}, which should be {expected}")]
    Metadata { key: String, text: String, expected: &'static str },
    #[error("{what} is {found}, which should be {expected}")]
    Number { what: &'static str, found: f64, expected: &'static str },
    #[error(
        "its tensors have {n} entries, and {most} at most are read: a few short sequences, \
         and a small layer of the same code, show as much"
    )]
    Entries { n: u128, most: u128 },
    #[error(
        "{n_q} queries on {n_kv} keys in {heads} heads, {batch} times, have {n} scores, and \
         {most} at most are computed: a few short sequences show as much"
    )]
    Scores { n_q: usize, n_kv: usize, heads: usize, batch: usize, n: u128, most: u128 },
    #[error("{}: {why}", model_files::shown(name))]
    Unread { name: String, why: &'static str },
    #[error(
        "{} is there, and the norm of the other one of queries and keys is not",
        model_files::shown(name)
    )]
    OneNorm { name: String },
    #[error(
        "{name} is no list of positions: cache_position counts up from 0 or more, and \
         key_positions stand beside positions, those of queries"
    )]
    Positions { name: &'static str },
    #[error(transparent)]
    File(#[from] model_files::Error),
    #[error(transparent)]
    Tensors(#[from] tensors::Error),
    #[error(transparent)]
    Layer(#[from] attention::Error),
    #[error("{0} has NaN or an infinity in it")]
    NotFinite(&'static str),
}

/// What can fail.
pub type Result<T> = std::result::Result<T, Error>;
