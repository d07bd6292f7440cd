//! Numbers with fewer digits: what rounding does to a right layer.

use attention::Matrix;

use crate::step::named;

named! {
    /// How a layer was computed: how many bits its numbers have, between steps and where they
    /// enter a product.
    Precision {
        /// float64.
        F64 = "float64",
        /// float32.
        F32 = "float32",
        /// float32, in whose products the factors have 10 bits, as GPUs do.
        TF32 = "float32 with TF32 products",
        /// float32, in whose products the factors are bfloat16, as TPUs do by default.
        BrainProducts = "float32 with bfloat16 products",
        /// float16.
        F16 = "float16",
        /// bfloat16.
        BF16 = "bfloat16",
    }
}

/// To which neighbour a number is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounding {
    Nearest,
    /// Towards 0: about what sums in another order, or steps of others, do beside the nearest.
    Down,
}

impl Precision {
    /// Bits of the mantissa between steps, the first 1 among them.
    fn bits(self) -> u32 {
        match self {
            Self::F64 => 53,
            Self::F32 | Self::TF32 | Self::BrainProducts => 24,
            Self::F16 => 11,
            Self::BF16 => 8,
        }
    }

    /// The same of the factors of a product.
    fn bits_of_factors(self) -> u32 {
        match self {
            Self::TF32 => 11,
            Self::BrainProducts => 8,
            other => other.bits(),
        }
    }

    /// How far apart two neighbouring numbers near 1 are.
    pub fn step(self) -> f64 {
        f64::powi(2.0, 1 - self.bits_of_factors() as i32)
    }

    /// Whether a number can be written in this precision.
    pub fn holds(self, x: f64) -> bool {
        !x.is_finite() || self.round(x, Rounding::Nearest) == x
    }

    pub(crate) fn round(self, x: f64, rounding: Rounding) -> f64 {
        rounded(x, self.bits(), self == Self::F16, rounding)
    }

    pub(crate) fn round_all(self, m: &mut Matrix, rounding: Rounding) {
        if self != Self::F64 {
            m.apply(|x| *x = self.round(*x, rounding));
        }
    }

    pub(crate) fn factor(self, m: &Matrix, rounding: Rounding) -> Matrix {
        let bits = self.bits_of_factors();
        m.map(|x| rounded(x, bits, self == Self::F16, rounding))
    }
}

/// The nearest number with so many bits; those of float16 end at 65,504.
fn rounded(x: f64, bits: u32, is_half: bool, rounding: Rounding) -> f64 {
    if bits >= 53 || x == 0.0 || !x.is_finite() {
        return x;
    }
    // Below its smallest exponent, float16 has numbers a fixed step apart.
    const SMALLEST_HALF: f64 = 1.0 / 16_384.0;
    if is_half && x.abs() < SMALLEST_HALF {
        let step = SMALLEST_HALF / 1024.0;
        return match rounding {
            Rounding::Nearest => (x / step).round_ties_even() * step,
            Rounding::Down => (x / step).trunc() * step,
        };
    }
    let dropped = 53 - bits;
    let number = x.to_bits();
    // Half of the last bit that stays, less one where that bit is 0: ties go to even.
    let half = (1 << (dropped - 1)) - 1 + ((number >> dropped) & 1);
    let number = match rounding {
        Rounding::Nearest => number + half,
        Rounding::Down => number,
    };
    let x = f64::from_bits(number >> dropped << dropped);
    if is_half && x.abs() > 65_504.0 { x * f64::INFINITY } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_as_the_formats_have_them() {
        let near = |precision: Precision, x| precision.round(x, Rounding::Nearest);
        assert_eq!(near(Precision::F32, 0.1), f64::from(0.1f32));
        assert_eq!(near(Precision::BF16, 2.7), 2.703125);
        assert_eq!(near(Precision::F16, 0.1), 0.0999755859375);
        assert_eq!(near(Precision::F16, 65_520.0), f64::INFINITY);
        assert_eq!(near(Precision::F16, 6e-8), 5.960464477539063e-8);
        assert!(Precision::BF16.holds(1.0) && !Precision::BF16.holds(1.001));
    }
}
