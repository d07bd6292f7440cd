//! Norms of queries and keys, and whether what only some layers have fits the heads.

use attention::RowVector;

use crate::{Error, Intent, Record, Result};

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
}

impl HeadNorm {
    /// `a root mean square with eps 1e-6, before the rotation`.
    pub(crate) fn words(&self) -> String {
        let kind = match self.kind {
            NormKind::RootMeanSquare => "a root mean square",
            NormKind::Layer => "a layer norm",
        };
        format!(
            "norms of queries and keys, {kind} with eps {:e}, before they are rotated",
            self.eps
        )
    }
}

impl Record {
    /// Norms, sinks and slopes are of as many numbers as heads have, or as there are heads.
    pub(crate) fn check_kinds(&self, intent: &Intent) -> Result<()> {
        let heads = intent.n_heads;
        for (role, norm) in self.weights.norms.iter().flatten().enumerate() {
            let width = self.weights.projections[role].d_out();
            let of_head = width / if role == 0 { heads } else { intent.n_kv_heads };
            let found = norm.gain.len();
            let is_one = !norm.is_whole && found == of_head;
            let is_biased = norm.bias.as_ref().is_none_or(|bias| bias.len() == found);
            if !(is_one || found == width) || !is_biased {
                let projection = ['Q', 'K'][role];
                return Err(Error::Norm { projection, found, of_head, width });
            }
        }
        let of_heads = [("sinks", &self.weights.sinks), ("slopes", &intent.slopes)];
        for (name, numbers) in of_heads {
            let found = numbers.as_ref().map_or(heads, Vec::len);
            if found != heads {
                return Err(Error::PerHead { name, found, heads });
            }
        }
        if intent.window == Some(0) {
            return Err(Error::NoWindow);
        }
        Ok(())
    }
}
