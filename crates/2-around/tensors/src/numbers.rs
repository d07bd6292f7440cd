//! Bytes to numbers: the four kinds of float that weights come in, and integers.

use attention::Real;
use safetensors::Dtype;

/// The kinds that [`floats`] reads, for messages.
pub(crate) const FLOATS: &str = "F64, F32, F16 or BF16";

/// The numbers in these bytes; `None` if they are of another kind.
pub(crate) fn floats<T: Real>(dtype: Dtype, bytes: &[u8]) -> Option<Vec<T>> {
    Some(match dtype {
        Dtype::F64 => each(bytes, |b| T::of(f64::from_le_bytes(b))),
        Dtype::F32 => each(bytes, |b| T::of(f32::from_le_bytes(b).into())),
        Dtype::F16 => each(bytes, |b| T::of(half(u16::from_le_bytes(b)))),
        Dtype::BF16 => each(bytes, |b| T::of(brain(u16::from_le_bytes(b)).into())),
        _ => return None,
    })
}

/// The kinds that [`integers`] reads, for messages.
pub(crate) const INTEGERS: &str = "I64, I32, I16, I8, U64, U32, U16, U8 or BOOL";

/// The integers in these bytes, flags as 0 and 1; `None` if they are of another kind.
pub(crate) fn integers(dtype: Dtype, bytes: &[u8]) -> Option<Vec<i128>> {
    Some(match dtype {
        Dtype::I64 => each(bytes, |b| i64::from_le_bytes(b).into()),
        Dtype::I32 => each(bytes, |b| i32::from_le_bytes(b).into()),
        Dtype::I16 => each(bytes, |b| i16::from_le_bytes(b).into()),
        Dtype::I8 => each(bytes, |b| i8::from_le_bytes(b).into()),
        Dtype::U64 => each(bytes, |b| u64::from_le_bytes(b).into()),
        Dtype::U32 => each(bytes, |b| u32::from_le_bytes(b).into()),
        Dtype::U16 => each(bytes, |b| u16::from_le_bytes(b).into()),
        Dtype::U8 => each(bytes, |b| u8::from_le_bytes(b).into()),
        Dtype::BOOL => each(bytes, |[b]| (b != 0).into()),
        _ => return None,
    })
}

fn each<const N: usize, T>(bytes: &[u8], number: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks().0.iter().map(|chunk| number(*chunk)).collect()
}

/// A bfloat16 is the upper half of a float32.
fn brain(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// A float16: one bit of sign, five of exponent, ten of fraction.
pub fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    match exponent {
        0 => sign * fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        _ => sign * (1.0 + fraction) * 2f64.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_half_is_the_one_between_its_neighbours() {
        // Bits count upwards with the numbers, so order and spacing hold all 31,744.
        for bits in 0..0x7c00 {
            let step = half(bits + 1) - half(bits);
            let unit = 2f64.powi(i32::from(bits >> 10).max(1) - 25);
            assert!(step == unit || bits == 0x7bff, "bits {bits:#06x}: step {step:e}");
            assert_eq!(half(bits | 0x8000), -half(bits));
        }
    }

    #[test]
    fn known_numbers_are_read_exactly() {
        let known =
            [(0x3c00, 1.0), (0xc000, -2.0), (0x7bff, 65504.0), (1, 5.960464477539063e-8)];
        for (bits, number) in known {
            assert_eq!(half(bits), number);
        }
        assert_eq!(half(0xfc00), f64::NEG_INFINITY);
        assert!(half(0x7e00).is_nan());
        assert_eq!((brain(0x3f80), brain(0xc049)), (1.0, -3.140625));
    }

    #[test]
    fn the_lowest_byte_comes_first() {
        assert_eq!(floats(Dtype::F16, &[0, 0x3c, 0, 0xc0]), Some(vec![1.0, -2.0]));
        assert_eq!(floats(Dtype::F32, &1.5f32.to_le_bytes()), Some(vec![1.5]));
        assert_eq!(floats(Dtype::F64, &0.1f64.to_le_bytes()), Some(vec![0.1]));
        assert_eq!(floats::<f64>(Dtype::I32, &[0; 4]), None);
    }

    #[test]
    fn integers_of_every_width_keep_their_sign() {
        let minus_two = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        let signed = [(Dtype::I8, 1), (Dtype::I16, 2), (Dtype::I32, 4), (Dtype::I64, 8)];
        for (dtype, n_bytes) in signed {
            assert_eq!(integers(dtype, &minus_two[..n_bytes]), Some(vec![-2]));
        }
        let unsigned =
            [(Dtype::U8, 1), (Dtype::U16, 2), (Dtype::U32, 4), (Dtype::U64, 8)];
        for (dtype, n_bytes) in unsigned {
            let largest = (1i128 << (8 * n_bytes)) - 1;
            assert_eq!(integers(dtype, &minus_two[..n_bytes]), Some(vec![largest - 1]));
        }
        assert_eq!(integers(Dtype::BOOL, &[0, 1]), Some(vec![0, 1]));
        assert_eq!(integers(Dtype::F32, &[0; 4]), None);
    }
}
