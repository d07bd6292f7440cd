//! The panels of one head's keys or values, in the bits that they are kept in.
//!
//! ```text
//! F32, F16   [panel][feature][48 tokens]
//! Q8         levels [panel][feature][48]   scales [panel][32 features][48]
//!            number = scale · level        scale = largest of the 32 / 127
//! ```
//!
//! Whoever computes gets a panel as floats: where it is, or in a room of 48 tokens, which stays
//! in the first cache, so that memory is read in the bits that it has.

use std::borrow::Cow;
use std::ops::Range;

use attention::View;
use half::f16;
use half::slice::HalfFloatSliceExt;
use tiles::panels::{n_groups, round_up};
use tiles::tile::ROWS;

use crate::float16::from_half;

/// Neighbouring features of a token that have one scale, as in GGUF's Q8_0.
const BLOCK: usize = 32;

/// In how many bits a cache keeps a number.
///
/// # Source
/// The two that llama.cpp has for its caches beside f32 and are not of 4 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// As it is.
    #[default]
    F32,
    /// Rounded to float16. One that is too large becomes NaN, so that nothing made of it is
    /// finite.
    F16,
    /// 8 bits, and an f32 for 32 numbers of a token: each is off by 1/254 of the largest of
    /// these at most. All 32 become NaN if one is not finite.
    Q8,
}

/// Keys or values of one head, all its tokens.
#[derive(Debug, Clone)]
pub(crate) struct Panels {
    width: usize,
    numbers: Numbers,
}

/// As many rows a panel as [`round_up`] says, with zeros behind the last feature.
#[derive(Debug, Clone)]
enum Numbers {
    F32(Vec<f32>),
    F16(Vec<f16>),
    Q8 { levels: Vec<i8>, scales: Vec<f32> },
}

impl Panels {
    /// None, with room for those of so many tokens.
    pub(crate) fn new(precision: Precision, width: usize, n_tokens: usize) -> Self {
        let [len, n_scales] = lens(width, n_tokens);
        let numbers = match precision {
            Precision::F32 => Numbers::F32(Vec::with_capacity(len)),
            Precision::F16 => Numbers::F16(Vec::with_capacity(len)),
            Precision::Q8 => Numbers::Q8 {
                levels: Vec::with_capacity(len),
                scales: Vec::with_capacity(n_scales),
            },
        };
        Self { width, numbers }
    }

    /// How many numbers a panel has.
    pub(crate) fn len(&self) -> usize {
        lens(self.width, ROWS)[0]
    }

    /// What a token takes.
    pub(crate) fn bytes_per_token(&self) -> usize {
        let n_scales = self.width.div_ceil(BLOCK);
        match &self.numbers {
            Numbers::F32(_) => self.width * size_of::<f32>(),
            Numbers::F16(_) => self.width * size_of::<f16>(),
            Numbers::Q8 { .. } => self.width + n_scales * size_of::<f32>(),
        }
    }

    /// Takes tokens from number `first` on, a row each of `[n, width]`.
    pub(crate) fn write(&mut self, first: usize, from: View<'_, f32>) {
        let [len, n_scales] = lens(self.width, first + from.nrows());
        match &mut self.numbers {
            Numbers::F32(numbers) => {
                numbers.resize(len, 0.0);
                write(numbers, first, from, <[f32]>::copy_from_slice);
            }
            Numbers::F16(numbers) => {
                numbers.resize(len, f16::ZERO);
                write(numbers, first, from, <[f16]>::convert_from_f32_slice);
            }
            Numbers::Q8 { levels, scales } => {
                levels.resize(len, 0);
                scales.resize(n_scales, 0.0);
                write_levels(levels, scales, first, from);
            }
        }
    }

    /// Forgets all but the first tokens.
    pub(crate) fn truncate(&mut self, n_tokens: usize) {
        let [len, n_scales] = lens(self.width, n_tokens);
        match &mut self.numbers {
            Numbers::F32(numbers) => numbers.truncate(len),
            Numbers::F16(numbers) => numbers.truncate(len),
            Numbers::Q8 { levels, scales } => {
                levels.truncate(len);
                scales.truncate(n_scales);
            }
        }
    }

    /// Panel `p` as floats, `[width][48]`: where it is, or in `room`, which is as large.
    #[inline(always)]
    pub(crate) fn panel<'a>(&'a self, p: usize, room: &'a mut [f32]) -> &'a [f32] {
        match &self.numbers {
            Numbers::F32(_) => self.in_place(p),
            Numbers::F16(_) | Numbers::Q8 { .. } => {
                self.copy(p, room);
                room
            }
        }
    }

    /// The same, always in `room`.
    #[inline(always)]
    pub(crate) fn copy(&self, p: usize, room: &mut [f32]) {
        let (first, len) = (p * self.len(), room.len());
        match &self.numbers {
            Numbers::F32(_) => room.copy_from_slice(self.in_place(p)),
            Numbers::F16(numbers) => {
                let from = &numbers[first..][..len];
                room.iter_mut().zip(from).for_each(|(to, from)| *to = to_f32(*from));
            }
            Numbers::Q8 { levels, scales } => {
                let n_blocks = self.width.div_ceil(BLOCK);
                let (levels, _) = levels[first..][..len].as_chunks::<ROWS>();
                let (scales, _) = scales[p * n_blocks * ROWS..].as_chunks::<ROWS>();
                let rows = room.as_chunks_mut::<ROWS>().0.iter_mut().zip(levels);
                for (f, (to, levels)) in rows.enumerate() {
                    let scales = &scales[f / BLOCK];
                    for lane in 0..ROWS {
                        to[lane] = scales[lane] * f32::from(levels[lane]);
                    }
                }
            }
        }
    }

    /// All panels as floats, `[panel][width][48]`, each with the rows of [`len`](Self::len).
    pub(crate) fn all(&self) -> Cow<'_, [f32]> {
        let n = match &self.numbers {
            Numbers::F32(numbers) => return Cow::Borrowed(numbers),
            Numbers::F16(numbers) => numbers.len(),
            Numbers::Q8 { levels, .. } => levels.len(),
        };
        let mut all = vec![0.0; n];
        for (p, room) in all.chunks_exact_mut(self.len()).enumerate() {
            self.copy(p, &mut room[..self.width * ROWS]);
        }
        Cow::Owned(all)
    }

    /// Panel `p` if it is read where it is, and there; else nothing.
    pub(crate) fn in_place(&self, p: usize) -> &[f32] {
        match &self.numbers {
            Numbers::F32(numbers) => {
                let behind = numbers.get(p * self.len()..).unwrap_or_default();
                &behind[..behind.len().min(self.width * ROWS)]
            }
            Numbers::F16(_) | Numbers::Q8 { .. } => &[],
        }
    }
}

/// How many numbers, and how many scales, the panels of so many tokens have.
fn lens(width: usize, n_tokens: usize) -> [usize; 2] {
    [round_up(width), width.div_ceil(BLOCK)].map(|rows| n_groups(n_tokens) * rows * ROWS)
}

/// NaN for what is none, and for infinity: a number that was too large.
#[inline(always)]
fn to_f32(number: f16) -> f32 {
    let bits = u32::from(number.to_bits());
    match bits & 0x7c00 == 0x7c00 {
        true => f32::NAN,
        false => from_half(bits),
    }
}

/// Where `n` tokens from number `first` on stand: in which panel, in which of its lanes, and
/// which of the n these are.
fn places(
    first: usize,
    n: usize,
) -> impl Iterator<Item = (usize, Range<usize>, Range<usize>)> {
    let end = first + n;
    (first / ROWS..n_groups(end)).map(move |p| {
        let here = first.max(p * ROWS)..end.min((p + 1) * ROWS);
        let behind = |start: usize| here.start - start..here.end - start;
        (p, behind(p * ROWS), behind(first))
    })
}

/// Writes rows of a matrix, from token `first` on, to their lanes of a head's panels.
pub(crate) fn write<T>(
    panels: &mut [T],
    first: usize,
    from: View<'_, f32>,
    store: impl Fn(&mut [T], &[f32]),
) {
    let len = round_up(from.ncols()) * ROWS;
    for (p, lanes, rows) in places(first, from.nrows()) {
        let panel = panels[p * len..][..len].chunks_exact_mut(ROWS);
        for (to, column) in panel.zip(from.column_iter()) {
            store(&mut to[lanes.clone()], &column.as_slice()[rows.clone()]);
        }
    }
}

/// The same in 8 bits: the scales first, and what is left then.
fn write_levels(
    levels: &mut [i8],
    scales: &mut [f32],
    first: usize,
    from: View<'_, f32>,
) {
    let width = from.ncols();
    let (len, n_blocks) = (round_up(width) * ROWS, width.div_ceil(BLOCK));
    for (p, lanes, rows) in places(first, from.nrows()) {
        let levels = levels[p * len..][..len].chunks_exact_mut(ROWS);
        let scales = scales[p * n_blocks * ROWS..].chunks_exact_mut(ROWS);
        let features = (0..width).step_by(BLOCK).zip(scales);
        let mut levels = levels.map(|row| &mut row[lanes.clone()]);
        for (feature, scales) in features {
            let scales = &mut scales[lanes.clone()];
            let columns = from.columns(feature, BLOCK.min(width - feature));
            scales.fill(0.0);
            for column in columns.column_iter() {
                let numbers = &column.as_slice()[rows.clone()];
                for (scale, x) in scales.iter_mut().zip(numbers) {
                    *scale = larger(*scale, x.abs());
                }
            }
            scales.iter_mut().for_each(|scale| *scale /= MOST);
            for (column, levels) in columns.column_iter().zip(&mut levels) {
                let numbers = column.as_slice()[rows.clone()].iter().zip(&*scales);
                for (level, (x, scale)) in levels.iter_mut().zip(numbers) {
                    // 0 where the scale is no number: their product is none then.
                    *level = (x / scale).round() as i8;
                }
            }
        }
    }
}

/// The largest level.
const MOST: f32 = 127.0;

/// The larger number; NaN if one is.
fn larger(a: f32, b: f32) -> f32 {
    if a >= b || a.is_nan() { a } else { b }
}
