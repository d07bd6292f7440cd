//! Kinds that keep 32 numbers together, under one scale.
//!
//! Where q has 4 bits, the low halves of 16 bytes come first, then the high ones. A fifth
//! bit of each stands in four bytes before them, number i's in bit i.
//!
//! # Source
//! `dequantize_row_…` of <https://github.com/ggml-org/llama.cpp/blob/master/ggml/src/ggml-quants.c>.

use super::plain::float16;
use super::scaled::Block;

/// `d · (q − 8)`: d is a float16, q has 4 bits.
pub(super) fn q4_0([d_0, d_1, q @ ..]: &[u8; 18]) -> Block<32, 1> {
    let d = float16([*d_0, *d_1]);
    (nibbles(q), [[d, -8.0 * d]])
}

/// `d · q + m`: d and m are float16, q has 4 bits.
pub(super) fn q4_1([d_0, d_1, m_0, m_1, q @ ..]: &[u8; 20]) -> Block<32, 1> {
    (nibbles(q), [[float16([*d_0, *d_1]), float16([*m_0, *m_1])]])
}

/// `d · (q − 16)`: d is a float16, q has 5 bits.
pub(super) fn q5_0([d_0, d_1, h_0, h_1, h_2, h_3, q @ ..]: &[u8; 22]) -> Block<32, 1> {
    let d = float16([*d_0, *d_1]);
    (fives([*h_0, *h_1, *h_2, *h_3], q), [[d, -16.0 * d]])
}

/// `d · q + m`: d and m are float16, q has 5 bits.
pub(super) fn q5_1(
    [d_0, d_1, m_0, m_1, h_0, h_1, h_2, h_3, q @ ..]: &[u8; 24],
) -> Block<32, 1> {
    let scale = [float16([*d_0, *d_1]), float16([*m_0, *m_1])];
    (fives([*h_0, *h_1, *h_2, *h_3], q), [scale])
}

/// `d · (q − 128)`: d is a float16, q − 128 an integer of 8 bits.
pub(super) fn q8_0([d_0, d_1, q @ ..]: &[u8; 34]) -> Block<32, 1> {
    let d = float16([*d_0, *d_1]);
    (q.map(|q| q ^ 128), [[d, -128.0 * d]])
}

fn nibbles(bytes: &[u8; 16]) -> [u8; 32] {
    std::array::from_fn(|i| bytes[i % 16] >> (i / 16 * 4) & 15)
}

fn fives(high: [u8; 4], bytes: &[u8; 16]) -> [u8; 32] {
    let (high, low) = (u32::from_le_bytes(high), nibbles(bytes));
    std::array::from_fn(|i| low[i] | ((high >> i & 1) as u8) << 4)
}
