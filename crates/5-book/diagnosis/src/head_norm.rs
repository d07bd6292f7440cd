//! Norms of queries and keys.

use attention::RowVector;

/// A norm of queries or keys.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadNorm {
    /// What an entry is multiplied by: d_k of them for every head, or those of all heads.
    pub gain: RowVector<f64>,
    /// What is then added, as many.
    pub bias: Option<RowVector<f64>>,
    /// What it divides by.
    pub kind: NormKind,
    /// Whether it is over all heads together, and not over each.
    pub is_whole: bool,
    /// What is added to the mean of the squares.
    pub eps: f64,
}

/// What a norm divides by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NormKind {
    /// The root of the mean of the squares.
    RootMeanSquare,
    /// The same after the mean is subtracted.
    Layer,
    /// Nothing says which of the two: the first, and then the second is tried too.
    Unsaid,
}

impl HeadNorm {
    /// A root mean square over each head, with these gains.
    pub fn of_heads(gain: RowVector<f64>) -> Self {
        let kind = NormKind::RootMeanSquare;
        Self { gain, bias: None, kind, is_whole: false, eps: 1e-6 }
    }

    /// `a root mean square with eps 1e-6, before the rotation`.
    pub(crate) fn words(&self) -> String {
        let kind = match self.kind {
            NormKind::RootMeanSquare | NormKind::Unsaid => "a root mean square",
            NormKind::Layer => "a layer norm",
        };
        format!(
            "norms of queries and keys, {kind} with eps {:e}, before they are rotated",
            self.eps
        )
    }
}
