//! How exact the numbers of an answer are that was printed, or computed with few bits.

/// By how much numbers may differ from those that were meant, as fractions of the largest of a
/// case (and at least of 1).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Precision {
    /// By the rounding of the numbers themselves: half of their last digit, or bit.
    pub rounding: f64,
    /// By what the computation may have lost before that, where it had few bits.
    pub arithmetic: f64,
}

impl Precision {
    /// All digits, or those of f32: what every check allows for.
    pub const FULL: Self = Self { rounding: 0.0, arithmetic: 0.0 };
    /// Computed in float16, with 11 bits.
    pub const F16: Self = Self::of_bits(11);
    /// Computed in bfloat16, with 8 bits.
    pub const BF16: Self = Self::of_bits(8);

    /// Of numbers that were computed with so many bits: a computation of a few steps loses some
    /// more than the last.
    const fn of_bits(n: u32) -> Self {
        let half = 0.5 / (1_u64 << (n - 1)) as f64;
        Self { rounding: half, arithmetic: 8.0 * half }
    }

    /// Whether two answers that a check tells apart may look the same.
    pub fn is_coarse(self) -> bool {
        self != Self::FULL
    }

    /// What is less exact of both.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            rounding: self.rounding.max(other.rounding),
            arithmetic: self.arithmetic.max(other.arithmetic),
        }
    }
}
