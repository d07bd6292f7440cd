//! What a layer was meant to be, and where its tokens stand.

use serde::Serialize;
use variants::{Alibi, Pairing};

use crate::Precision;
use crate::recipe::Packing;

/// Where a causal mask begins, if there are not as many queries as keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Corner {
    /// The first query sees the first key alone.
    TopLeft,
    /// The last query sees all keys.
    BottomRight,
}

/// What a query gets that may attend to no key; each is found in right code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmptyRow {
    /// Zeros.
    #[default]
    Zeros,
    /// The mean of all values, as by a fill of −1e9.
    Even,
    /// NaN, as by −∞ in PyTorch.
    NaN,
    /// As if there were no mask: 10,000 less for every key, as BERT's code has it.
    Unmasked,
}

impl EmptyRow {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Zeros, Self::Even, Self::NaN, Self::Unmasked];
    /// By what scores are lower in a row that is as if it had no mask.
    pub(crate) const LOWERED: f64 = 1e4;
}

/// What the layer was meant to be.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Intent {
    /// h.
    pub n_heads: usize,
    /// How many heads of keys and values they share.
    pub n_kv_heads: usize,
    /// A causal mask.
    pub causal: Option<Corner>,
    /// Rotary positions, and their base.
    pub rotary: Option<(Pairing, f64)>,
    /// What scores are multiplied by, if not 1/√d_k.
    pub scale: Option<f64>,
    /// The bound of the scores.
    pub cap: Option<f64>,
    /// How far a query sees: so many keys, the one where it stands among them, and without a
    /// causal mask as many ahead.
    pub window: Option<usize>,
    /// What a head's scores lose per token of distance (ALiBi).
    pub slopes: Option<Vec<f64>>,
    /// Where the first query stands, where keys are counted from 0; if it is not said,
    /// [`Intent::first_query`].
    pub offset: Option<usize>,
    /// Positions that are no mere count: what rotary positions and slopes are computed by.
    pub positions: Option<Positions>,
    /// How a packed W is packed.
    pub packing: Packing,
    /// What a query gets that may attend to no key.
    pub empty_row: EmptyRow,
    /// In which precision it was computed, if that is known: coarser than its numbers show,
    /// or as coarse.
    pub computed: Option<Precision>,
}

impl Intent {
    /// So many heads, and nothing else besides.
    pub fn heads(n_heads: usize) -> Self {
        Self { n_heads, n_kv_heads: n_heads, ..Self::default() }
    }

    /// The slopes of ALiBi as the paper has them; none for no head.
    pub fn paper_slopes(n_heads: usize) -> Vec<f64> {
        Alibi::new(n_heads).map_or(Vec::new(), |alibi| alibi.slopes)
    }

    /// Where the first query stands, where keys are counted from 0. It is said; or else the
    /// last query stands at the last key, unless a causal mask begins at the top left.
    pub fn first_query(&self, (n_q, n_kv): (usize, usize)) -> isize {
        let at_end = n_kv as isize - n_q as isize;
        match (self.offset, self.causal) {
            (Some(offset), _) => offset as isize,
            (None, Some(Corner::TopLeft)) => 0,
            (None, Some(Corner::BottomRight)) => at_end,
            (None, None) => at_end.max(0),
        }
    }
}

/// Positions that are no mere count: a list for all sequences, or one each.
#[derive(Debug, Clone, PartialEq)]
pub struct Positions {
    /// Of queries.
    pub queries: Vec<Vec<f64>>,
    /// Of keys.
    pub keys: Vec<Vec<f64>>,
}
