//! Bytes to numbers, block by block.
//!
//! All is computed in float32, in the order of operations of ggml and of the Python package
//! `gguf`: the numbers are theirs, bit for bit.

mod levels;
mod plain;
mod scaled;
mod small;
mod super_blocks;
#[cfg(test)]
mod tests;

use attention::Real;

pub use levels::Levels;

use scaled::{around, with_offset};

/// The kinds of number that are read here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // what a block holds stands beside the function that reads it
#[allow(non_camel_case_types)] // the names that the format gives them
pub enum Kind {
    F32,
    F16,
    BF16,
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q4_K,
    Q5_K,
    Q6_K,
}

/// What the format calls the kinds of number, by their code; some codes are no longer used.
const NAMES: [&str; 40] = [
    "F32", "F16", "Q4_0", "Q4_1", "", "", "Q5_0", "Q5_1", "Q8_0", "Q8_1", "Q2_K", "Q3_K",
    "Q4_K", "Q5_K", "Q6_K", "Q8_K", "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL",
    "IQ3_S", "IQ2_S", "IQ4_XS", "I8", "I16", "I32", "I64", "F64", "IQ1_M", "BF16", "",
    "", "", "TQ1_0", "TQ2_0", "", "", "", "MXFP4",
];

/// The name of a kind, for messages.
pub(super) fn name(code: u32) -> String {
    let known = usize::try_from(code).ok().and_then(|code| NAMES.get(code));
    match known.filter(|name| !name.is_empty()) {
        Some(name) => (*name).to_string(),
        None => format!("numbers of kind {code}"),
    }
}

impl Kind {
    /// All of them, for messages.
    pub(super) const NAMES: &str =
        "F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K and Q6_K";

    /// The kind with this code.
    pub fn of(code: u32) -> Option<Self> {
        match code {
            0 => Some(Self::F32),
            1 => Some(Self::F16),
            2 => Some(Self::Q4_0),
            3 => Some(Self::Q4_1),
            6 => Some(Self::Q5_0),
            7 => Some(Self::Q5_1),
            8 => Some(Self::Q8_0),
            12 => Some(Self::Q4_K),
            13 => Some(Self::Q5_K),
            14 => Some(Self::Q6_K),
            30 => Some(Self::BF16),
            _ => None,
        }
    }

    /// How many numbers are kept together, and in how many bytes.
    pub fn block(self) -> (usize, usize) {
        match self {
            Self::F32 => (1, 4),
            Self::F16 | Self::BF16 => (1, 2),
            Self::Q4_0 => (32, 2 + 16),
            Self::Q4_1 => (32, 2 + 2 + 16),
            Self::Q5_0 => (32, 2 + 4 + 16),
            Self::Q5_1 => (32, 2 + 2 + 4 + 16),
            Self::Q8_0 => (32, 2 + 32),
            Self::Q4_K => (256, 2 + 2 + 12 + 128),
            Self::Q5_K => (256, 2 + 2 + 12 + 32 + 128),
            Self::Q6_K => (256, 128 + 64 + 16 + 2),
        }
    }

    /// The numbers in whole blocks.
    pub(super) fn numbers<T: Real>(self, bytes: &[u8]) -> Vec<T> {
        match self {
            Self::F32 => each(bytes, |block| [f32::from_le_bytes(*block)]),
            Self::F16 => each(bytes, |block| [plain::float16(*block)]),
            Self::BF16 => each(bytes, |block| [plain::bfloat16(*block)]),
            Self::Q4_0 => each(bytes, |block| around(8.0, small::q4_0(block))),
            Self::Q4_1 => each(bytes, |block| with_offset(small::q4_1(block))),
            Self::Q5_0 => each(bytes, |block| around(16.0, small::q5_0(block))),
            Self::Q5_1 => each(bytes, |block| with_offset(small::q5_1(block))),
            Self::Q8_0 => each(bytes, |block| around(128.0, small::q8_0(block))),
            Self::Q4_K => each(bytes, |block| with_offset(super_blocks::q4_k(block))),
            Self::Q5_K => each(bytes, |block| with_offset(super_blocks::q5_k(block))),
            Self::Q6_K => each(bytes, |block| around(32.0, super_blocks::q6_k(block))),
        }
    }
}

/// The numbers of every block of N bytes, M each.
fn each<T: Real, const N: usize, const M: usize>(
    bytes: &[u8],
    numbers: fn(&[u8; N]) -> [f32; M],
) -> Vec<T> {
    let blocks = bytes.as_chunks().0;
    let mut all = Vec::with_capacity(blocks.len() * M);
    for block in blocks {
        all.extend(numbers(block).map(|number| T::of(number.into())));
    }
    all
}
