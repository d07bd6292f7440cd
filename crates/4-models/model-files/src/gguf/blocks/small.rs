//! Kinds that keep 32 numbers together, under one scale.
//!
//! Where q has 4 bits, the low halves of 16 bytes come first, then the high ones. A fifth
//! bit of each stands in four bytes before them, number i's in bit i.
//!
//! # Source
//! `dequantize_row_…` of <https://github.com/ggml-org/llama.cpp/blob/master/ggml/src/ggml-quants.c>.

use super::plain::float16;

/// `d · (q − 8)`: d is a float16, q has 4 bits.
pub(super) fn q4_0([d_0, d_1, q @ ..]: &[u8; 18]) -> [f32; 32] {
    let d = float16([*d_0, *d_1]);
    nibbles(q).map(|q| d * (f32::from(q) - 8.0))
}

/// `d · q + m`: d and m are float16, q has 4 bits.
pub(super) fn q4_1([d_0, d_1, m_0, m_1, q @ ..]: &[u8; 20]) -> [f32; 32] {
    let (d, m) = (float16([*d_0, *d_1]), float16([*m_0, *m_1]));
    nibbles(q).map(|q| d * f32::from(q) + m)
}

/// `d · (q − 16)`: d is a float16, q has 5 bits.
pub(super) fn q5_0([d_0, d_1, h_0, h_1, h_2, h_3, q @ ..]: &[u8; 22]) -> [f32; 32] {
    let d = float16([*d_0, *d_1]);
    fives([*h_0, *h_1, *h_2, *h_3], q).map(|q| d * (f32::from(q) - 16.0))
}

/// `d · q + m`: d and m are float16, q has 5 bits.
pub(super) fn q5_1(
    [d_0, d_1, m_0, m_1, h_0, h_1, h_2, h_3, q @ ..]: &[u8; 24],
) -> [f32; 32] {
    let (d, m) = (float16([*d_0, *d_1]), float16([*m_0, *m_1]));
    fives([*h_0, *h_1, *h_2, *h_3], q).map(|q| d * f32::from(q) + m)
}

/// `d · q`: d is a float16, q an integer of 8 bits.
pub(super) fn q8_0([d_0, d_1, q @ ..]: &[u8; 34]) -> [f32; 32] {
    let d = float16([*d_0, *d_1]);
    q.map(|q| d * f32::from(q.cast_signed()))
}

/// As [`q4_0`]: `d · q − 8 d`.
pub(super) fn q4_0_levels([d_0, d_1, q @ ..]: &[u8; 18]) -> Levels {
    let d = float16([*d_0, *d_1]);
    (nibbles(q), [[d, -8.0 * d]])
}

/// As [`q4_1`].
pub(super) fn q4_1_levels([d_0, d_1, m_0, m_1, q @ ..]: &[u8; 20]) -> Levels {
    (nibbles(q), [[float16([*d_0, *d_1]), float16([*m_0, *m_1])]])
}

/// As [`q5_0`]: `d · q − 16 d`.
pub(super) fn q5_0_levels([d_0, d_1, h_0, h_1, h_2, h_3, q @ ..]: &[u8; 22]) -> Levels {
    let d = float16([*d_0, *d_1]);
    (fives([*h_0, *h_1, *h_2, *h_3], q), [[d, -16.0 * d]])
}

/// As [`q5_1`].
pub(super) fn q5_1_levels(
    [d_0, d_1, m_0, m_1, h_0, h_1, h_2, h_3, q @ ..]: &[u8; 24],
) -> Levels {
    let scale = [float16([*d_0, *d_1]), float16([*m_0, *m_1])];
    (fives([*h_0, *h_1, *h_2, *h_3], q), [scale])
}

/// As [`q8_0`]: `d · (q + 128) − 128 d`.
pub(super) fn q8_0_levels([d_0, d_1, q @ ..]: &[u8; 34]) -> Levels {
    let d = float16([*d_0, *d_1]);
    (q.map(|q| q ^ 128), [[d, -128.0 * d]])
}

/// Every u of a block, and its scale and offset.
type Levels = ([u8; 32], [[f32; 2]; 1]);

fn nibbles(bytes: &[u8; 16]) -> [u8; 32] {
    std::array::from_fn(|i| bytes[i % 16] >> (i / 16 * 4) & 15)
}

fn fives(high: [u8; 4], bytes: &[u8; 16]) -> [u8; 32] {
    let (high, low) = (u32::from_le_bytes(high), nibbles(bytes));
    std::array::from_fn(|i| low[i] | ((high >> i & 1) as u8) << 4)
}
