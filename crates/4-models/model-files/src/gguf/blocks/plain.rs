//! Kinds that keep each number by itself.

use tensors::half;

/// A float16: every one is a float32 too.
pub(super) fn float16(bytes: [u8; 2]) -> f32 {
    half(u16::from_le_bytes(bytes)) as f32
}

/// A bfloat16: the upper half of a float32.
pub(super) fn bfloat16([low, high]: [u8; 2]) -> f32 {
    f32::from_le_bytes([0, 0, low, high])
}
