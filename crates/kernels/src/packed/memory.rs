//! Memory that is kept between calls.

use crate::prefetch::LINE;

/// Numbers that begin where a cache line begins, so that no vector lies across two. They
/// grow when more are asked for, and never shrink: the second call of the same size
/// allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Aligned {
    numbers: Vec<f32>,
    start: usize,
}

impl Aligned {
    /// The first `len` numbers; what is in them is left over from earlier.
    pub(crate) fn take(&mut self, len: usize) -> &mut [f32] {
        if self.numbers.len() < self.start + len {
            self.numbers = vec![0.0; len + LINE];
            let bytes = LINE * size_of::<f32>();
            // Where the address says nothing (in Miri), any start is right.
            self.start = self.numbers.as_ptr().align_offset(bytes).min(LINE);
        }
        &mut self.numbers[self.start..][..len]
    }

    /// The first `len` numbers, as they were last written.
    ///
    /// # Shapes
    /// As many have been [taken](Self::take) before.
    pub(crate) fn get(&self, len: usize) -> &[f32] {
        &self.numbers[self.start..][..len]
    }
}

/// What one thread works in.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Tokens as panels, `[d_in][48]` each.
    pub(crate) x: Aligned,
    /// Which groups are in `x`.
    pub(crate) groups: std::ops::Range<usize>,
    /// Scores, then shares, of a block: `[keys][48]`.
    pub(crate) scores: Aligned,
    /// Running outputs, `[d_v][48]` each.
    pub(crate) out: Aligned,
    /// In a backward pass, the gradients of one head's keys and values, `[panel][d][48]`.
    pub(crate) gradients: Aligned,
}
