//! Bytes to numbers, block by block.

use crate::half;
use attention::Real;

/// The kinds of number that are read here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A float32 each.
    F32,
    /// A float16 each.
    F16,
    /// 32 numbers `d · q`: d is a float16, each q an integer of 8 bits.
    Q8_0,
    /// 32 numbers `d · q + m`: d and m are float16, each q has 4 bits. The low halves of
    /// the 16 bytes come first, then the high ones.
    Q4_1,
}

/// What the format calls the kinds of number, by their code; some codes are no longer used.
const NAMES: [&str; 31] = [
    "F32", "F16", "Q4_0", "Q4_1", "", "", "Q5_0", "Q5_1", "Q8_0", "Q8_1", "Q2_K", "Q3_K",
    "Q4_K", "Q5_K", "Q6_K", "Q8_K", "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL",
    "IQ3_S", "IQ2_S", "IQ4_XS", "I8", "I16", "I32", "I64", "F64", "IQ1_M", "BF16",
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
    pub(super) const NAMES: &str = "F32, F16, Q8_0 and Q4_1";

    /// The kind with this code.
    pub fn of(code: u32) -> Option<Self> {
        match code {
            0 => Some(Self::F32),
            1 => Some(Self::F16),
            3 => Some(Self::Q4_1),
            8 => Some(Self::Q8_0),
            _ => None,
        }
    }

    /// How many numbers are kept together, and in how many bytes.
    pub fn block(self) -> (usize, usize) {
        match self {
            Self::F32 => (1, 4),
            Self::F16 => (1, 2),
            Self::Q8_0 => (32, 2 + 32),
            Self::Q4_1 => (32, 2 + 2 + 16),
        }
    }

    /// The numbers in whole blocks.
    pub(super) fn numbers<T: Real>(self, bytes: &[u8]) -> Vec<T> {
        let (per_block, n_bytes) = self.block();
        let mut numbers = Vec::with_capacity(bytes.len() / n_bytes * per_block);
        match self {
            Self::F32 => numbers.extend(
                bytes.as_chunks().0.iter().map(|b| T::of(f32::from_le_bytes(*b).into())),
            ),
            Self::F16 => {
                numbers.extend(bytes.as_chunks().0.iter().map(|b| float::<T>(*b)))
            }
            Self::Q8_0 => {
                for [d_0, d_1, q @ ..] in bytes.as_chunks::<34>().0 {
                    let d: f64 = float([*d_0, *d_1]);
                    let of = |q: &u8| T::of(d * f64::from(q.cast_signed()));
                    numbers.extend(q.iter().map(of));
                }
            }
            Self::Q4_1 => {
                for [d_0, d_1, m_0, m_1, q @ ..] in bytes.as_chunks::<20>().0 {
                    let (d, m): (f64, f64) = (float([*d_0, *d_1]), float([*m_0, *m_1]));
                    let of = |q: u8| T::of(d * f64::from(q) + m);
                    numbers.extend(q.iter().map(|q| of(q & 15)));
                    numbers.extend(q.iter().map(|q| of(q >> 4)));
                }
            }
        }
        numbers
    }
}

fn float<T: Real>(bytes: [u8; 2]) -> T {
    T::of(half(u16::from_le_bytes(bytes)))
}
