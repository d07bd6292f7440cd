//! What can be wrong with an input, with the numbers that say so.

mod expect;

/// A result whose error is this workspace's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Rows and columns of a matrix.
pub type Shape = (usize, usize);

/// Why sizes, matrices or a mask cannot be used together.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `d_model` is not a multiple of the number of heads.
    #[error(
        "d_model {d_model} cannot be divided among {n_heads} heads: \
         {d_model} = {n_heads} × {} + {}",
        d_model / n_heads, d_model % n_heads
    )]
    NotDivisible {
        /// The width of the model.
        d_model: usize,
        /// The number of heads asked for, at least 1.
        n_heads: usize,
    },

    /// A size that must be at least 1 is 0.
    #[error("{what} is 0, and must be at least 1")]
    ZeroSize {
        /// Which size.
        what: &'static str,
    },

    /// A sequence without tokens.
    #[error("{what} has shape ({}, {}): it holds no tokens", shape.0, shape.1)]
    EmptySequence {
        /// Which input: `query`, `key` or `value`.
        what: &'static str,
        /// Its shape.
        shape: Shape,
    },

    /// A matrix that does not fit the others.
    #[error(
        "{what} has shape ({}, {}), expected ({}, {})",
        found.0, found.1, expected.0, expected.1
    )]
    Shape {
        /// Which matrix.
        what: String,
        /// The shape that fits.
        expected: Shape,
        /// The shape that it has.
        found: Shape,
    },

    /// Keys and values come in pairs, and these do not.
    #[error("key has {n_keys} tokens and value has {n_values}: each key needs its value")]
    KeyValueLengths {
        /// The number of key tokens.
        n_keys: usize,
        /// The number of value tokens.
        n_values: usize,
    },

    /// Some heads have a bias and some have none.
    #[error(
        "{matrix} of head 0 has {} bias and {matrix} of head {head} has {}: \
         either every head has one or none",
        if *.of_first { "a" } else { "no" },
        if *.of_first { "none" } else { "one" }
    )]
    MixedBiases {
        /// Which projection: `w_q`, `w_k` or `w_v`.
        matrix: &'static str,
        /// The first head that differs from head 0.
        head: usize,
        /// Whether head 0 has a bias.
        of_first: bool,
    },

    /// A list of masks, one per head, for another number of heads.
    #[error("{n_masks} masks were given for {n_heads} heads: give one per head")]
    MaskHeads {
        /// The number of masks.
        n_masks: usize,
        /// The number of heads.
        n_heads: usize,
    },

    /// A mask that opens more keys than there are.
    #[error("the mask lets the first {n_open} keys be seen and there are only {n_kv}")]
    MaskFirstKeys {
        /// The number of keys that the mask opens.
        n_open: usize,
        /// The number of keys.
        n_kv: usize,
    },

    /// An additive mask whose entry is NaN or +∞, which no softmax survives.
    #[error(
        "the additive mask holds {score} at query {query}, key {key}: \
         entries are finite, or −∞ for a key that may not be attended to"
    )]
    MaskScore {
        /// The query's row.
        query: usize,
        /// The key's column.
        key: usize,
        /// The entry.
        score: f64,
    },

    /// Rows that cannot be cut into sequences of equal length.
    #[error("{n_rows} rows cannot be cut into {n_sequences} sequences of equal length")]
    BatchRows {
        /// The number of rows.
        n_rows: usize,
        /// The number of sequences asked for.
        n_sequences: usize,
    },

    /// Query, key and value of a batch differ in their number of sequences.
    #[error("{what} has {found} sequences, expected {expected}")]
    BatchLength {
        /// Which input.
        what: &'static str,
        /// The number of sequences of the query.
        expected: usize,
        /// The number found.
        found: usize,
    },

    /// Columns that cannot be cut into heads of equal width.
    #[error(
        "{what} has {n_columns} columns, which cannot be cut into {n_heads} heads of equal width"
    )]
    HeadColumns {
        /// Which matrix.
        what: &'static str,
        /// The number of its columns.
        n_columns: usize,
        /// The number of heads.
        n_heads: usize,
    },

    /// A list of another length than what it goes with.
    #[error("{what} has {found} entries, expected {expected}")]
    Length {
        /// Which list.
        what: String,
        /// The length that fits.
        expected: usize,
        /// The length that it has.
        found: usize,
    },

    /// Query heads that cannot be shared out among the heads of keys and values.
    #[error(
        "{n_heads} query heads cannot be shared out among {n_kv_heads} heads of keys and \
         values: {n_heads} = {n_kv_heads} × {} + {}",
        n_heads / n_kv_heads, n_heads % n_kv_heads
    )]
    Groups {
        /// The number of query heads.
        n_heads: usize,
        /// The number of heads of keys and values, at least 1.
        n_kv_heads: usize,
    },

    /// A number that must be above 0, and finite.
    #[error("{what} is {value}, and must be a number above 0")]
    NotPositive {
        /// Which number.
        what: &'static str,
        /// What it is.
        value: f64,
    },

    /// A chance of 1, or no chance at all.
    #[error("{what} is {value}, and must be at least 0 and below 1")]
    NotBelowOne {
        /// Which chance.
        what: &'static str,
        /// What it is.
        value: f64,
    },

    /// A number that a smaller format has no place for.
    #[error("{what} hold {value}, and {format} has no such number")]
    NoSuchNumber {
        /// Which numbers.
        what: &'static str,
        /// What one of them is.
        value: f64,
        /// What they are to be kept as.
        format: &'static str,
    },

    /// Masks within masks, deeper than anybody means.
    #[error("the mask holds masks within masks, and more than {most} levels of them")]
    MaskDepth {
        /// The number of levels that are accepted.
        most: usize,
    },

    /// The gradients of query, key and value were added up, and are asked for one by one.
    #[error(
        "query, key and value were one input: there is the sum of their gradients, and not \
         each of them"
    )]
    OneInput,

    /// An index, counted from 0, that nothing here has.
    #[error("{}: {what} {index} does not exist", counted(what, *n))]
    NoSuchIndex {
        /// What is counted, in the singular: `head`.
        what: &'static str,
        /// The index asked for.
        index: usize,
        /// How many there are.
        n: usize,
    },

    /// A number that no integer here can hold.
    #[error("{what} is more than this machine can count")]
    TooLarge {
        /// Which number.
        what: String,
    },

    /// A row of logits whose class is not among them.
    #[error("row {row} is of class {class}, and there are {n_classes} classes, from 0")]
    Class {
        /// The row of the logits.
        row: usize,
        /// Its class.
        class: usize,
        /// The number of classes, which is the width of the logits.
        n_classes: usize,
    },

    /// A token that the table of embeddings does not have.
    #[error(
        "token {position} has id {id}, and the vocabulary has {n_vocabulary} entries, from 0"
    )]
    Token {
        /// Where it stands.
        position: usize,
        /// Its id.
        id: usize,
        /// The number of rows of the table.
        n_vocabulary: usize,
    },

    /// More tokens than there are positions.
    #[error("the text has {n_tokens} tokens, and the model has {n_positions} positions")]
    TooLong {
        /// The number of tokens.
        n_tokens: usize,
        /// The number of positions.
        n_positions: usize,
    },

    /// Entries are rotated two at a time.
    #[error(
        "{n_rotated} entries of a head cannot be rotated: it must be an even number above 0"
    )]
    NotPairs {
        /// How many were to be rotated.
        n_rotated: usize,
    },

    /// More entries to be rotated than a head has.
    #[error("{n_rotated} entries of a head were to be rotated, and it has {d_k}")]
    Rotated {
        /// How many were to be rotated.
        n_rotated: usize,
        /// How many there are.
        d_k: usize,
    },

    /// Buckets of distances that cannot be distinguished.
    #[error(
        "{n_buckets} buckets, of which {n_exact} of a direction are of one distance each, \
         for distances to {max_distance}: a direction needs 2 buckets, and distances beyond \
         those"
    )]
    Buckets {
        /// How many there are.
        n_buckets: usize,
        /// How many of a direction are of one distance.
        n_exact: usize,
        /// From where on all distances are alike.
        max_distance: usize,
    },

    /// A window that has no place for the token itself.
    #[error("a window of 0 tokens: a token sees itself at least, so 1 is the smallest")]
    EmptyWindow,

    /// A change of the formula that has no backward pass.
    #[error("the backward pass of {change} is not written: train without it")]
    NoBackward {
        /// Which change.
        change: &'static str,
    },

    /// A list with one entry per head, for another number of heads.
    #[error("{what} has {found} entries for {n_heads} heads: give one per head")]
    PerHead {
        /// Which list.
        what: &'static str,
        /// How many entries it has.
        found: usize,
        /// The number of query heads.
        n_heads: usize,
    },

    /// More hits than there are.
    #[error("{hits} of {n} is no count: there are more than all")]
    Count {
        /// How many are to count.
        hits: usize,
        /// Of how many.
        n: usize,
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

    /// A letter that a model of letters does not know.
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
    TooManyLetters {
        /// The number of letters.
        n_letters: usize,
        /// The most that there can be.
        most: usize,
    },
}

/// `there are 8 heads, 0 to 7`.
fn counted(what: &str, n: usize) -> String {
    match n {
        0 => format!("there is no {what}"),
        1 => format!("there is one {what}, number 0"),
        _ => format!("there are {n} {what}s, 0 to {}", n - 1),
    }
}
