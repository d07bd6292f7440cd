//! Memory asked for before it is read.
//!
//! A number from memory takes some 300 cycles to arrive. A loop that knows what comes next
//! asks for it early, and goes on with other work meanwhile.

/// The width of a cache line, in f32.
pub(crate) const LINE: usize = 16;

/// Asks for part `part` of `n_parts` of these numbers, so that they are in the second cache
/// when they are read.
#[inline(always)]
pub(crate) fn prefetch(numbers: &[f32], part: usize, n_parts: usize) {
    let n_lines = numbers.len() / LINE;
    for line in n_lines * part / n_parts..n_lines * (part + 1) / n_parts {
        ask_for(&numbers[line * LINE]);
    }
}

/// The same for row after row of something else that is read meanwhile: asks for the lines
/// of this panel that come with row `row` of `n_rows`.
#[derive(Clone, Copy)]
pub struct Ahead<'a, T = f32> {
    panel: &'a [T],
    /// Numbers of a line.
    line: usize,
    lines_a_row: usize,
}

impl<T> Default for Ahead<'_, T> {
    /// Nothing.
    fn default() -> Self {
        Self::new(&[], 0)
    }
}

impl<'a, T> Ahead<'a, T> {
    /// With so many rows of the other thing.
    #[inline]
    pub fn new(panel: &'a [T], n_rows: usize) -> Self {
        let line = (LINE * size_of::<f32>() / size_of::<T>().max(1)).max(1);
        let lines_a_row = (panel.len() / line).div_ceil(n_rows.max(1));
        Self { panel, line, lines_a_row }
    }

    /// Asks for the lines that come with this row.
    #[inline(always)]
    pub fn row(self, row: usize) {
        let lines = row * self.lines_a_row..(row + 1) * self.lines_a_row;
        for line in lines {
            if let Some(number) = self.panel.get(line * self.line) {
                ask_for(number);
            }
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn ask_for<T>(number: &T) {
    use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
    // SAFETY: every x86-64 processor has this, and it changes nothing but the caches.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(std::ptr::from_ref(number).cast()) };
}

/// There is no such instruction in stable Rust.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
fn ask_for<T>(_: &T) {}
