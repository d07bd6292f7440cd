//! Kinds that keep 256 numbers together: groups with small scales under one large scale.
//!
//! # Source
//! `dequantize_row_…` of <https://github.com/ggml-org/llama.cpp/blob/master/ggml/src/ggml-quants.c>.

use super::plain::float16;
use super::scaled::Block;

/// Eight groups of 32: `(d · s) · q − (m · t)`, d and m float16, s and t of 6 bits for each
/// group, q of 4 bits.
pub(super) fn q4_k(block: &[u8; 144]) -> Block<256, 8> {
    let ([d_0, d_1, m_0, m_1], rest) = split::<4>(block);
    let (scales, q) = split::<12>(rest);
    let scales = groups(float16([*d_0, *d_1]), float16([*m_0, *m_1]), scales);
    (std::array::from_fn(|i| nibble(q, i)), scales)
}

/// The same with a fifth bit of q: group g's stand in bit g of 32 bytes.
pub(super) fn q5_k(block: &[u8; 176]) -> Block<256, 8> {
    let ([d_0, d_1, m_0, m_1], rest) = split::<4>(block);
    let (scales, rest) = split::<12>(rest);
    let (high, q) = split::<32>(rest);
    let fifth = |i: usize| high[i % 32] >> (i / 32) & 1;
    let scales = groups(float16([*d_0, *d_1]), float16([*m_0, *m_1]), scales);
    (std::array::from_fn(|i| nibble(q, i) | fifth(i) << 4), scales)
}

/// Sixteen groups of 16: `(d · s) · (q − 32)`, d a float16, s an integer of 8 bits for each
/// group, q of 6 bits: 4 in one place, 2 in another.
pub(super) fn q6_k(block: &[u8; 210]) -> Block<256, 16> {
    let (low, rest) = split::<128>(block);
    let (high, rest) = split::<64>(rest);
    let (scales, d) = split::<16>(rest);
    let d = float16([d[0], d[1]]);
    let q = std::array::from_fn(|i| {
        // Of each 128 numbers, 64 low halves come first, then 64 high ones.
        let (half, within) = (i / 128, i % 128);
        let four = low[half * 64 + within % 64] >> (within / 64 * 4) & 15;
        let two = high[half * 32 + within % 32] >> (within / 32 * 2) & 3;
        four | two << 4
    });
    let scale = scales.map(|scale| d * f32::from(scale.cast_signed()));
    (q, scale.map(|scale| [scale, -32.0 * scale]))
}

/// Number i's 4 bits: of each 64 numbers, 32 low halves come first, then 32 high ones.
fn nibble(bytes: &[u8], i: usize) -> u8 {
    bytes[i / 64 * 32 + i % 32] >> (i / 32 % 2 * 4) & 15
}

/// Scale and offset of each group; the offset is minus the minimum. Four groups have their 6
/// bits in the low bits of a byte each; of the other four, 4 bits stand in the last bytes and
/// 2 above those of the first.
fn groups(d: f32, m: f32, bytes: &[u8; 12]) -> [[f32; 2]; 8] {
    std::array::from_fn(|g| {
        let (scale, minimum) = match g {
            0..4 => (bytes[g] & 63, bytes[g + 4] & 63),
            _ => (
                bytes[g + 4] & 15 | bytes[g - 4] >> 6 << 4,
                bytes[g + 4] >> 4 | bytes[g] >> 6 << 4,
            ),
        };
        [d * f32::from(scale), -(m * f32::from(minimum))]
    })
}

/// The first N bytes of a block whose length is known, and the rest.
fn split<const N: usize>(bytes: &[u8]) -> (&[u8; N], &[u8]) {
    bytes.split_first_chunk().expect("a block is longer")
}
