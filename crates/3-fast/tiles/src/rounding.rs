//! Blocks of tokens as whole numbers under a scale each.

/// How a block of T tokens is rounded, so many numbers of each.
#[derive(Debug, Clone, Copy)]
pub struct Rounding<const T: usize> {
    /// What a whole number stands for. NaN where a number of the token is not finite.
    pub scales: [f32; T],
    /// By what numbers are multiplied before they are rounded.
    factors: [f32; T],
}

/// Added to a number and taken away again, it leaves the nearest whole number: 1.5 · 2²³.
const ROUND: f32 = 12_582_912.0;

impl<const T: usize> Rounding<T> {
    /// The largest number of each token becomes `most`, or its negative.
    #[inline(always)]
    pub fn new(x: &[[f32; T]], most: f32) -> Self {
        // Of numbers without their signs the bits are in order, and beyond all others those of
        // what is not finite.
        let mut largest = [0u32; T];
        for x in x {
            for t in 0..T {
                largest[t] = largest[t].max(x[t].abs().to_bits());
            }
        }
        let largest = largest.map(f32::from_bits);
        Self {
            scales: largest.map(|largest| largest / most + 0.0 * largest),
            factors: largest
                .map(|largest| if largest > 0.0 { most / largest } else { 0.0 }),
        }
    }

    /// The nearest whole number to a number of token `t`, in its steps.
    #[inline(always)]
    pub fn whole(&self, t: usize, x: f32) -> i32 {
        let whole = (x * self.factors[t] + ROUND).to_bits() as i32;
        whole.wrapping_sub(ROUND.to_bits() as i32)
    }
}
