//! What a model may change in the scores.

use std::f32::consts::LOG2_E;
use std::ops::Range;

use attention::{Error, Result};

use crate::GroupedHeads;

/// What differs from `softmax(q kᵀ / √d_k)`; by default nothing does.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scoring {
    /// What scores are multiplied by, instead of 1/√d_k.
    pub scale: Option<f32>,
    /// The c of `c · tanh(score / c)`: scores stay between −c and c.
    pub soft_cap: Option<f32>,
    /// How many keys a query sees, its own token's among them, instead of all before it.
    pub window: Option<usize>,
    /// A logit per query head that takes a share of the attention, and has no value.
    pub sink: Option<Vec<f32>>,
}

impl Scoring {
    /// Whether it fits these heads.
    ///
    /// # Errors
    /// [`Error::ZeroSize`] for a window of 0, [`Error::NotPositive`] for a cap that is not
    /// above 0, [`Error::Length`] if there is not one sink per query head.
    pub(crate) fn check(&self, heads: GroupedHeads) -> Result<()> {
        if let Some(window) = self.window {
            Error::expect_positive("the window", window)?;
        }
        if let Some(cap) = self.soft_cap
            && !(cap.is_finite() && cap > 0.0)
        {
            let value = f64::from(cap);
            return Err(Error::NotPositive { what: "the soft cap", value });
        }
        if let Some(sink) = &self.sink {
            Error::expect_length("the list of sinks", heads.n_heads(), sink.len())?;
        }
        Ok(())
    }

    /// Whether only the scale differs.
    pub(crate) fn is_plain(&self) -> bool {
        self.soft_cap.is_none() && self.window.is_none() && self.sink.is_none()
    }

    /// The soft cap, unless it is so large that it changes no score in this precision.
    pub(crate) fn cap(&self) -> Option<f32> {
        const NONE: f32 = 1e24;
        self.soft_cap.filter(|cap| *cap < NONE)
    }

    /// What scores are multiplied by.
    pub(crate) fn scale(&self, heads: GroupedHeads) -> f32 {
        self.scale.unwrap_or(1.0 / (heads.d_k() as f32).sqrt())
    }

    /// What a query is multiplied by, so that its products with keys are what
    /// [`Cap`] or, without one, a power of 2 is made of.
    pub(crate) fn query_factor(&self, heads: GroupedHeads) -> f32 {
        let cap = self.cap().map_or(1.0, |cap| 2.0 / cap);
        self.scale(heads) * cap * LOG2_E
    }

    /// The keys that a query sees which stands behind `n - 1` others.
    pub(crate) fn seen(&self, n: usize) -> Range<usize> {
        self.window.map_or(0, |window| n.saturating_sub(window))..n
    }

    /// The logit of a query head's sink, as an exponent of 2.
    pub(crate) fn sink(&self, head: usize) -> Option<f32> {
        self.sink.as_ref().map(|sink| sink[head] * LOG2_E)
    }
}
