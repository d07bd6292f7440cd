//! What a live figure asks its reader, and how it knows that it is answered.

use std::ops::Range;

use anyhow::{Context, Result};

use super::settings::Settings;
use super::view::LiveView;

/// A question that is answered by changing the figure.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    /// What is asked, in a sentence.
    pub ask: &'static str,
    /// Whether these settings, and what came out of them, answer it. They do not where the
    /// controls stand first: a question that needs no move is none.
    pub is_answered: fn(&Settings, &LiveView) -> Result<bool>,
    /// Settings that answer it, as an address has them, for a reader who gives up.
    pub answer: &'static [(&'static str, &'static str)],
    /// What is to be learnt from the answer, in a sentence.
    pub found: &'static str,
}

impl LiveView {
    /// The `nth` of its numbers.
    ///
    /// # Errors
    /// If there are not as many.
    pub fn number(&self, nth: usize) -> Result<f64> {
        let count = self.numbers.len();
        let number = self.numbers.get(nth).copied();
        number.with_context(|| format!("there is no number {nth} among {count}"))
    }

    /// Some of its numbers.
    ///
    /// # Errors
    /// If there are not as many.
    pub fn slice(&self, range: Range<usize>) -> Result<&[f64]> {
        let count = self.numbers.len();
        let slice = self.numbers.get(range.clone());
        slice.with_context(|| format!("there are no numbers {range:?} among {count}"))
    }

    /// The last `N` of its numbers, in their order.
    ///
    /// # Errors
    /// If there are not as many.
    pub fn last<const N: usize>(&self) -> Result<[f64; N]> {
        let last = self.numbers.last_chunk().copied();
        last.with_context(|| format!("there are less than {N} numbers"))
    }
}
