//! A learned sink: a share that goes to nobody.
//!
//! The line `attn_ij = exp(s_ij) / Σ_j exp(s_ij)` becomes
//! `exp(s_ij) / (exp(sink) + Σ_j exp(s_ij))`, with one number per head.
//!
//! **Why.** Softmax must give its whole share to someone. Trained models leave what they
//! have no use for at the first token, which a window drops. **Buys** a head that can say
//! "nothing here", in rows that sum to less than 1. **Costs** one parameter per head.
//!
//! It is a key that all queries score alike and whose value is 0: so it is computed.

use attention::{Error, Mask, Matrix, Real, Result, softmax_rows};

/// The score of the sink, per head.
///
/// ```
/// use attention::{Mask, Matrix};
/// use variants::Sink;
///
/// let sink = Sink { scores: vec![2f64.ln()] };
/// let scores = Matrix::from_row_slice(1, 2, &[0.0, 0.0]);
/// let attn = sink.softmax_rows(0, scores, &Mask::None);
/// assert_eq!(attn.map(|share| (100.0 * share).round()).as_slice(), [25.0, 25.0]);
/// ```
///
/// # Source
/// OpenAI 2025, "gpt-oss-120b & gpt-oss-20b", section 2.3; with a score of 0 for all heads it
/// is Miller 2023, "Attention Is Off By One".
#[derive(Debug, Clone, PartialEq)]
pub struct Sink<T: Real = f64> {
    /// One score per head, `[n_heads]`.
    pub scores: Vec<T>,
}

impl<T: Real> Sink<T> {
    /// Softmax over a head's masked scores and its sink; the sink's own share is dropped.
    ///
    /// # Shapes
    /// `[n_q, n_kv]` to `[n_q, n_kv]`; rows sum to less than 1. `mask` is the one that is on
    /// the scores: what it adds to a row is less the largest of the row ([`Mask::row`]), and
    /// the sink must come down with it.
    // ANCHOR: softmax_rows
    pub fn softmax_rows(&self, head: usize, masked: Matrix<T>, mask: &Mask) -> Matrix<T> {
        let (n_q, n_kv) = masked.shape();
        let mut with_sink = masked.insert_column(n_kv, self.scores[head]);
        for i in 0..n_q {
            with_sink[(i, n_kv)] -= T::of(mask.largest_of_row(i, (n_q, n_kv)));
        }
        softmax_rows(with_sink).remove_column(n_kv)
    }
    // ANCHOR_END: softmax_rows

    pub(crate) fn check(&self, n_heads: usize) -> Result<()> {
        Error::expect_per_head("the list of sinks", self.scores.len(), n_heads)
    }
}
