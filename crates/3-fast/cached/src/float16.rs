//! From a float16 to a float, in steps that every set of vectors has.

use tiles::bytes::halves::FROM_HALF;

/// The finite float16 in the lower half of a word, subnormal ones too.
#[inline(always)]
pub(crate) fn from_half(word: u32) -> f32 {
    let size = f32::from_bits((word & 0x7fff) << 13) * FROM_HALF;
    f32::from_bits(size.to_bits() | (word & 0x8000) << 16)
}

#[cfg(test)]
mod tests {
    use half::f16;

    use super::*;

    #[test]
    fn every_float16_is_the_float_that_it_stands_for() {
        for bits in 0..=u16::MAX {
            let half = f16::from_bits(bits);
            if half.is_finite() {
                assert_eq!(from_half(bits.into()).to_bits(), half.to_f32().to_bits());
            }
        }
    }
}
