//! Weights in few bits: integers, and a scale for each 32 entries of a row.
//!
//! ```text
//! w         I8 [rows, cols], or U8 [rows, cols / 2] with two entries of 4 bits in a byte
//! w.scales  BF16 [rows, cols / 32, rounded up]     entry = integer · scale of its 32
//! ```
//!
//! A file of safetensors has no kind of number for this. A tensor `w` of I8 or U8 is read as
//! floats where the same file has its scales beside it, and then it looks everywhere as if it
//! were one tensor of floats; without scales it is one of integers, as it always was.

use std::collections::BTreeMap;
use std::fmt;

use attention::Real;
use safetensors::Dtype;
use safetensors::tensor::TensorInfo;

use crate::error::{Error, Result};
use crate::numbers::{FLOATS, floats};
use crate::words::shape_text;

/// Entries of a row that have one scale.
const BLOCK: usize = 32;

/// What the name of a tensor's scales ends with.
pub(crate) const SCALES: &str = ".scales";

/// How many scales are tried for a block; the one with the smallest error is kept.
const TRIED: i8 = 11;

/// How many bits an entry has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bits {
    /// Integers from −128 to 127, in I8.
    Eight,
    /// Integers from −8 to 7, plus 8, two in a U8: the first of them in the lower half.
    Four,
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Eight { "8" } else { "4" })
    }
}

impl Bits {
    /// The lowest integer.
    fn lowest(self) -> i8 {
        match self {
            Self::Eight => i8::MIN,
            Self::Four => -8,
        }
    }

    /// A row's integers in its bytes.
    fn packed(self, integers: &[i8]) -> Vec<u8> {
        let nibble = |integer: i8| (integer + 8) as u8;
        match self {
            Self::Eight => integers.iter().map(|&integer| integer as u8).collect(),
            Self::Four => {
                let pairs = integers.as_chunks::<2>().0.iter();
                pairs.map(|&[a, b]| nibble(a) | nibble(b) << 4).collect()
            }
        }
    }

    /// The integers in a row's bytes.
    fn unpacked(self, bytes: &[u8]) -> Vec<i8> {
        let integer = |nibble: u8| nibble as i8 - 8;
        let both = |byte: &u8| [integer(byte & 0xf), integer(byte >> 4)];
        match self {
            Self::Eight => bytes.iter().map(|&byte| byte as i8).collect(),
            Self::Four => bytes.iter().flat_map(both).collect(),
        }
    }
}

/// A tensor as a file's header has it.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// The file's part that its numbers are in.
    pub part: usize,
    /// Its kind and place; its shape is that of its entries.
    pub info: TensorInfo,
    /// Of one in few bits: how many, and its scales.
    pub few: Option<(Bits, TensorInfo)>,
}

/// The tensors of a header by their names; scales go to the tensor that they are of.
pub(crate) fn entries(
    file: &str,
    tensors: &BTreeMap<String, &TensorInfo>,
) -> Result<BTreeMap<String, Entry>> {
    let mut entries = BTreeMap::new();
    for (name, &info) in tensors {
        let scales = |name: &String| tensors.get(&format!("{name}{SCALES}")).copied();
        let has_bits = |info: &TensorInfo| matches!(info.dtype, Dtype::I8 | Dtype::U8);
        let owner = name.strip_suffix(SCALES).and_then(|owner| tensors.get(owner));
        if owner.is_some_and(|owner| has_bits(owner)) {
            continue;
        }
        let mut entry = Entry { part: 0, info: info.clone(), few: None };
        if let Some(scales) = scales(name).filter(|_| has_bits(info)) {
            entry = in_few_bits(file, name, entry.info, scales)?;
        }
        entries.insert(name.clone(), entry);
    }
    Ok(entries)
}

fn in_few_bits(
    file: &str,
    name: &str,
    mut info: TensorInfo,
    scales: &TensorInfo,
) -> Result<Entry> {
    let (file, tensor) = (file.to_owned(), format!("{name}{SCALES}"));
    let bits = if info.dtype == Dtype::I8 { Bits::Eight } else { Bits::Four };
    let [rows, cols] = &mut info.shape[..] else {
        let (tensor, expected) = (name.to_owned(), "two dimensions".to_owned());
        return Err(Error::Shape { file, tensor, found: info.shape, expected });
    };
    if bits == Bits::Four {
        *cols = cols.saturating_mul(2);
    }
    let expected = [*rows, cols.div_ceil(BLOCK)];
    if scales.shape != expected {
        let (found, expected) = (scales.shape.clone(), shape_text(&expected));
        return Err(Error::Shape { file, tensor, found, expected });
    }
    if floats::<f32>(scales.dtype, &[]).is_none() {
        let found = scales.dtype.to_string();
        return Err(Error::Dtype { file, tensor, found, expected: FLOATS });
    }
    Ok(Entry { part: 0, info, few: Some((bits, scales.clone())) })
}

/// The numbers of `n_cols` a row in these bytes.
pub(crate) fn numbers<T: Real>(
    bits: Bits,
    bytes: &[u8],
    scales: &[f32],
    n_cols: usize,
) -> Vec<T> {
    let (integers, n_blocks) = (bits.unpacked(bytes), n_cols.div_ceil(BLOCK));
    let rows = integers.chunks_exact(n_cols).zip(scales.chunks_exact(n_blocks));
    let blocks = rows.flat_map(|(row, scales)| row.chunks(BLOCK).zip(scales));
    let entry = |integer: i8, scale: f32| T::of(f64::from(integer) * f64::from(scale));
    blocks.flat_map(|(block, &s)| block.iter().map(move |&q| entry(q, s))).collect()
}

/// A row's blocks as integers, with their scales as the bytes of BF16.
pub(crate) fn row(entries: &[f32], bits: Bits) -> (Vec<u8>, Vec<u8>) {
    let (mut integers, mut scales) = (vec![], vec![]);
    for block in entries.chunks(BLOCK) {
        let (scale, found) = best(block, bits);
        integers.extend(found);
        scales.extend(((scale.to_bits() >> 16) as u16).to_le_bytes());
    }
    (bits.packed(&integers), scales)
}

/// The scale under which a block's integers are nearest to its entries. The entry that is
/// farthest from 0 becomes the lowest integer, which reaches one farther than the highest, or
/// somewhat less.
fn best(block: &[f32], bits: Bits) -> (f32, Vec<i8>) {
    let lowest = f32::from(bits.lowest());
    let farthest = block.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()));
    let farthest = farthest.unwrap_or_default();
    let under = |nth: i8| {
        let scale = farthest / (lowest + 0.2 * f32::from(nth));
        // As BF16 has it, to the nearest: the integers are those of what will be read.
        let scale = f32::from_bits(scale.to_bits().wrapping_add(0x8000) & 0xffff_0000);
        // Of zeros alone the quotient is NaN, and its integer 0.
        let integer = |x: &f32| (x / scale).round().clamp(lowest, -lowest - 1.0) as i8;
        let integers: Vec<i8> = block.iter().map(integer).collect();
        let apart = |(x, &q): (&f32, &i8)| (x - f32::from(q) * scale).powi(2);
        let error: f32 = block.iter().zip(&integers).map(apart).sum();
        (error, scale, integers)
    };
    let all = (0..TRIED).map(under);
    let (_, scale, integers) = all.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default();
    (scale, integers)
}
