//! The exponential, several numbers at once.
//!
//! `2^x = 2^n · 2^f` with n the integer nearest to x and f in [−½, ½]. The first factor
//! is an exponent and nothing else, so it is written straight into the bits of a float.
//! The second is a polynomial of degree 5, as near to 2^f as f32 can tell: its largest
//! relative error is 9.2e-8. Its constant term is exactly 1, so `2^0` is exactly 1.
//!
//! **What it buys:** a dozen instructions without a branch serve 16 numbers (AVX-512),
//! where `f32::exp` is called for each number.
//!
//! **What it leaves out:** results below 2^−126.5 become 0, and those above 2^127.5 become ∞.
//! AVX-512 has an instruction for either end of this, and leaves out less.

#[cfg(target_arch = "x86_64")]
mod avx512;

#[cfg(target_arch = "x86_64")]
use pulp::bytemuck::cast;
use pulp::{Simd, WithSimd};

use crate::Instructions;

/// `2^f = 1 + f · (C[0] + f · (C[1] + …))` for f in [−½, ½]: the five numbers with the
/// smallest largest relative error (Lawson's iteration), rounded to f32.
#[expect(clippy::approx_constant, reason = "it is near ln 2, and better here")]
const C: [f32; 5] =
    [0.693_147, 0.240_222_42, 0.055_507_336, 0.009_671_513, 0.001_326_472_7];

/// `2^x`; NaN stays NaN, −∞ gives 0, and where 2^x is too large for f32 it is ∞.
#[inline(always)]
pub fn exp2<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    #[cfg(target_arch = "x86_64")]
    if let Some(v4) = avx512::of(simd) {
        return cast(avx512::exp2(v4, cast(x)));
    }
    by_bits(simd, x)
}

// ANCHOR: exp2
/// 1.5 · 2²³ + 127. Between 2²³ and 2²⁴ only integers are floats, so adding x to this
/// rounds x to the nearest integer n. The lowest 9 bits of the sum are then n + 127,
/// which is how a float stores the exponent n. Shifted to its place, they are 2^n.
const ROUND: f32 = 12_583_039.0;

/// Where a float's exponent begins.
const EXPONENT: u32 = 23;

/// The same, on any processor.
#[inline(always)]
fn by_bits<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    // At −127 the result is 0, and at 128 it is ∞. NaN must stay NaN. Where an
    // operand is NaN, the vectors' min and max give the second, so x comes second;
    // `f32::max` would give the number, so a scalar compares and selects.
    let (lowest, highest) = (simd.splat_f32s(-127.0), simd.splat_f32s(128.0));
    let x = if S::IS_SCALAR {
        let x = simd.select_f32s(simd.less_than_f32s(x, lowest), lowest, x);
        simd.select_f32s(simd.less_than_f32s(highest, x), highest, x)
    } else {
        simd.min_f32s(highest, simd.max_f32s(lowest, x))
    };

    let round = simd.splat_f32s(ROUND);
    let rounded = simd.add_f32s(x, round);
    let f = simd.sub_f32s(x, simd.sub_f32s(rounded, round));
    let bits = simd.transmute_u32s_f32s(rounded);
    let bits = simd.wrapping_dyn_shl_u32s(bits, simd.splat_u32s(EXPONENT));
    let power = simd.transmute_f32s_u32s(bits); // 2^n
    simd.mul_f32s(fraction(simd, f), power)
}

/// `2^f`.
#[inline(always)]
fn fraction<S: Simd>(simd: S, f: S::f32s) -> S::f32s {
    let p = simd.mul_add_e_f32s(f, simd.splat_f32s(C[4]), simd.splat_f32s(C[3]));
    let p = simd.mul_add_e_f32s(f, p, simd.splat_f32s(C[2]));
    let p = simd.mul_add_e_f32s(f, p, simd.splat_f32s(C[1]));
    let p = simd.mul_add_e_f32s(f, p, simd.splat_f32s(C[0]));
    simd.mul_add_e_f32s(f, p, simd.splat_f32s(1.0))
}
// ANCHOR_END: exp2

/// Replaces every x, at most 0, by e^x.
pub fn exp_in_place(instructions: Instructions, numbers: &mut [f32]) {
    instructions.run(ExpInPlace { numbers });
}

struct ExpInPlace<'a> {
    numbers: &'a mut [f32],
}

impl WithSimd for ExpInPlace<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // Not a closure: one that is not inlined is compiled without this processor's
        // instructions.
        let log2_e = simd.splat_f32s(std::f32::consts::LOG2_E);
        let (vectors, rest) = S::as_mut_simd_f32s(self.numbers);
        for x in vectors {
            *x = exp2(simd, simd.mul_f32s(*x, log2_e));
        }
        if !rest.is_empty() {
            let x = simd.partial_load_f32s(rest);
            simd.partial_store_f32s(rest, exp2(simd, simd.mul_f32s(x, log2_e)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exp2_of(instructions: Instructions, x: f32) -> f32 {
        struct Op(f32);
        impl WithSimd for Op {
            type Output = f32;
            #[inline(always)]
            fn with_simd<S: Simd>(self, simd: S) -> f32 {
                let vector = exp2(simd, simd.splat_f32s(self.0));
                let first: &[f32] =
                    pulp::bytemuck::cast_slice(std::slice::from_ref(&vector));
                first[0]
            }
        }
        instructions.run(Op(x))
    }

    #[test]
    fn it_is_two_to_the_x_to_the_last_digits() {
        let steps = if cfg!(miri) { 200 } else { 200_000 };
        let bound = 2e-7;
        for instructions in Instructions::available() {
            let mut largest = 0f64;
            for i in 0..=steps {
                let x = -126.0 * i as f32 / steps as f32;
                let expected = f64::from(x).exp2();
                let error = f64::from(exp2_of(instructions, x)) / expected - 1.0;
                largest = largest.max(error.abs());
            }
            println!("{instructions}: largest relative error {largest:.1e}");
            assert!(largest < bound, "{instructions}: {largest:.1e}");
        }
        if !cfg!(miri) {
            let told = format!(
                "exp2_tried: {}\nexp2_bound: {bound:e}",
                attention::thousands(steps + 1)
            );
            insta::assert_snapshot!("exp2_bound", told);
        }
    }

    #[test]
    fn special_numbers_are_themselves() {
        for instructions in Instructions::available() {
            let exp2 = |x| exp2_of(instructions, x);
            assert_eq!(exp2(0.0), 1.0);
            assert_eq!(exp2(-1.0), 0.5);
            assert_eq!(exp2(f32::NEG_INFINITY), 0.0);
            assert_eq!(exp2(-1e30), 0.0);
            assert_eq!(exp2(127.0), f32::from_bits(0x7f00_0000));
            for x in [128.0, 200.0, 1e30, f32::INFINITY] {
                assert_eq!(exp2(x), f32::INFINITY);
            }
            assert!(exp2(f32::NAN).is_nan());
            // A NaN whose lowest bits are set, as arithmetic on foreign data may give.
            assert!(exp2(f32::from_bits(0x7fc0_0001)).is_nan());
        }
    }

    #[test]
    fn every_number_of_a_slice_is_replaced() {
        for instructions in Instructions::available() {
            for len in 0..40 {
                let mut numbers: Vec<f32> = (0..len).map(|i| -0.37 * i as f32).collect();
                let expected: Vec<f32> = numbers.iter().map(|x| x.exp()).collect();
                exp_in_place(instructions, &mut numbers);
                for (x, y) in numbers.iter().zip(&expected) {
                    assert!((x - y).abs() <= 3e-7, "{instructions}, {len}: {x} {y}");
                }
            }
        }
    }
}
