//! How much there is in one call.

/// The numbers of sequences, queries and keys of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    /// The number of sequences.
    pub n_sequences: usize,
    /// The number of queries of each sequence.
    pub n_q: usize,
    /// The number of keys of each sequence.
    pub n_kv: usize,
}
