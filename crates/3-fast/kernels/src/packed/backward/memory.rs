//! What the backward pass keeps between calls.

use tiles::memory::Aligned;

/// What the backward pass keeps between calls.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The gradients of the heads' outputs, `[group][head][d_v][48]`.
    pub(super) d_heads: Aligned,
    /// The gradients of the queries, in [`Strips`](super::strips::Strips) of each head and
    /// sequence.
    pub(super) dq: Aligned,
    /// Of the keys.
    pub(super) dk: Aligned,
    /// Of the values.
    pub(super) dv: Aligned,
    /// Of the outputs, in strips of all features and tokens.
    pub(super) d_out: Aligned,
    /// Query, key and value with their features side by side, `[features / 48][row][48]`.
    pub(super) tokens_turned: [Aligned; 3],
    /// The heads' outputs, likewise.
    pub(super) concat_turned: Aligned,
}
