//! Memory that is kept between calls.

use attention::Matrix;

use crate::panels::pack_tokens;
use crate::prefetch::LINE;
use crate::tile::ROWS;

/// Numbers that begin where a cache line begins, so that no vector lies across two. They
/// grow when more are asked for, and never shrink: the second call of the same size
/// allocates nothing.
#[derive(Debug, Default)]
pub struct Aligned {
    numbers: Vec<f32>,
    start: usize,
}

impl Aligned {
    /// The first `len` numbers; what is in them is left over from earlier.
    #[inline]
    pub fn take(&mut self, len: usize) -> &mut [f32] {
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
    #[inline]
    pub fn get(&self, len: usize) -> &[f32] {
        &self.numbers[self.start..][..len]
    }
}

/// What one thread works in.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Tokens as panels, `[d_in][48]` each.
    pub x: Aligned,
    /// Which groups are in `x`.
    pub groups: std::ops::Range<usize>,
    /// Scores, then shares, of a block: `[keys][48]`.
    pub scores: Aligned,
    /// Running outputs, `[d_v][48]` each.
    pub out: Aligned,
    /// In a backward pass, the gradients of one head's keys and values, `[panel][d][48]`.
    pub gradients: Aligned,
}

/// The groups' tokens as panels, `[n_groups][width][48]`: packed, unless they still are.
#[inline(always)]
pub fn packed<'a>(
    x: &Matrix<f32>,
    group: usize,
    n_groups: usize,
    scratch: &'a mut Scratch,
) -> &'a [f32] {
    let len = x.ncols() * ROWS;
    let (groups, panels) = (group..group + n_groups, scratch.x.take(n_groups * len));
    if scratch.groups != groups {
        for (g, panel) in groups.clone().zip(panels.chunks_exact_mut(len)) {
            pack_tokens(x, g, panel);
        }
        scratch.groups = groups;
    }
    panels
}
