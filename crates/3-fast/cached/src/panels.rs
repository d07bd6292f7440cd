//! The panels of one head's keys or values, in the bits that they are kept in.
//!
//! ```text
//! F32, F16   [panel][feature][48 tokens]
//! Q8         levels [panel][feature][48]     scales [panel][48]
//!            number = scale · level          scale = the token's largest number / 127
//! ```
//!
//! Panels are read where they are, and a number becomes a float in a register. A scale is the
//! same for all features of a token, so no number is multiplied with it: a score is, and a
//! share.

use std::borrow::Cow;

use attention::nalgebra::Scalar;
use attention::{Error, Matrix, Result, View};
use half::f16;
use half::vec::HalfFloatVecExt;
use pulp::Simd;
use pulp::bytemuck::cast_slice_mut;
use tiles::panels::{n_groups, round_up};
use tiles::tile::ROWS;

use crate::float16::from_half;

/// In how many bits a cache keeps a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// As it is.
    #[default]
    F32,
    /// Rounded to float16, to which a number must be below 65,520.
    F16,
    /// 8 bits, and for the numbers of a token and a head one scale: each is off by 1/254 of the
    /// largest of them at most.
    Q8,
}

/// Keys or values of one head, all its tokens.
#[derive(Debug, Clone)]
pub(crate) struct Panels {
    width: usize,
    pub(crate) numbers: Numbers,
}

/// As many rows a panel as [`round_up`] says, with zeros behind the last feature.
#[derive(Debug, Clone)]
pub(crate) enum Numbers {
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

    /// What a token takes.
    pub(crate) fn bytes_per_token(&self) -> usize {
        match &self.numbers {
            Numbers::F32(_) => self.width * size_of::<f32>(),
            Numbers::F16(_) => self.width * size_of::<f16>(),
            Numbers::Q8 { .. } => self.width + size_of::<f32>(),
        }
    }

    /// Whether all of it can be kept.
    ///
    /// # Errors
    /// [`Error::NoSuchNumber`] for one that cannot.
    pub(crate) fn check(&self, what: &'static str, from: View<'_, f32>) -> Result<()> {
        let (most, format) = match self.numbers {
            Numbers::F32(_) => return Ok(()),
            Numbers::F16(_) => (MOST_HALF, "float16"),
            Numbers::Q8 { .. } => (f32::MAX, "8 bits and a scale"),
        };
        match from.iter().find(|x| x.is_nan() || x.abs() > most) {
            None => Ok(()),
            Some(&x) => Err(Error::NoSuchNumber { what, value: x.into(), format }),
        }
    }

    /// Takes tokens from number `first` on, a row each of `[n, width]`, which were
    /// [checked](Self::check).
    pub(crate) fn write(&mut self, first: usize, from: View<'_, f32>) {
        let [len, n_scales] = lens(self.width, first + from.nrows());
        match &mut self.numbers {
            Numbers::F32(numbers) => {
                numbers.resize(len, 0.0);
                write(numbers, first, from, |x, _| x);
            }
            Numbers::F16(numbers) => {
                numbers.resize(len, f16::ZERO);
                // All at once: what converts several is a call.
                let (n, width) = from.shape();
                let floats: Vec<f32> = from.iter().copied().collect();
                let halves = Matrix::from_vec(n, width, Vec::from_f32_slice(&floats));
                write(numbers, first, halves.as_view(), |x, _| x);
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

    /// All panels as floats, `[panel][width][48]`, with as many rows a panel as [`round_up`]
    /// says.
    pub(crate) fn floats(&self) -> Cow<'_, [f32]> {
        match &self.numbers {
            Numbers::F32(numbers) => Cow::Borrowed(numbers),
            Numbers::F16(numbers) => numbers.iter().map(|x| x.float()).collect(),
            Numbers::Q8 { levels, scales } => {
                let panels = levels.chunks_exact(round_up(self.width) * ROWS);
                let rows =
                    panels.zip(scales.chunks_exact(ROWS)).flat_map(|(panel, scales)| {
                        panel.chunks_exact(ROWS).map(move |row| (row, scales))
                    });
                let number = |(level, scale): (&i8, &f32)| level.float() * scale;
                rows.flat_map(|(row, scales)| row.iter().zip(scales).map(number))
                    .collect()
            }
        }
    }
}

/// The largest number of float16 is 65,504; what is below this is rounded to it.
const MOST_HALF: f32 = 65_519.996;

/// How many numbers, and how many scales, the panels of so many tokens have.
fn lens(width: usize, n_tokens: usize) -> [usize; 2] {
    [round_up(width), 1].map(|rows| n_groups(n_tokens) * rows * ROWS)
}

/// A number of a panel.
pub(crate) trait Number: Copy {
    /// What is computed with; of a level that is itself, without its scale.
    fn float(self) -> f32;

    /// Numbers as they are, if they were not [checked](Panels::check).
    #[inline(always)]
    fn unchecked(_: &[Self]) -> Option<&[f32]> {
        None
    }

    /// N vectors of a row, from vector `first` on: number by number, which compilers make
    /// vectors of.
    #[inline(always)]
    fn vectors<S: Simd, const N: usize>(
        simd: S,
        row: &[Self; ROWS],
        first: usize,
    ) -> [S::f32s; N] {
        let mut vectors = [simd.splat_f32s(0.0); N];
        let from = &row[first * S::F32_LANES..][..N * S::F32_LANES];
        let to: &mut [f32] = cast_slice_mut(&mut vectors);
        to.iter_mut().zip(from).for_each(|(to, from)| *to = from.float());
        vectors
    }
}

impl Number for f32 {
    #[inline(always)]
    fn float(self) -> f32 {
        self
    }

    #[inline(always)]
    fn unchecked(numbers: &[Self]) -> Option<&[f32]> {
        Some(numbers)
    }
}

impl Number for f16 {
    #[inline(always)]
    fn float(self) -> f32 {
        from_half(self.to_bits().into())
    }
}

impl Number for i8 {
    #[inline(always)]
    fn float(self) -> f32 {
        self.into()
    }
}

/// Writes rows of a matrix, from token `first` on, to their lanes of a head's panels: `store`
/// is given a number and its token.
pub(crate) fn write<T, N: Copy + Scalar>(
    panels: &mut [T],
    first: usize,
    from: View<'_, N>,
    store: impl Fn(N, usize) -> T,
) {
    let (len, end) = (round_up(from.ncols()) * ROWS, first + from.nrows());
    for p in first / ROWS..n_groups(end) {
        let here = first.max(p * ROWS)..end.min((p + 1) * ROWS);
        let panel = panels[p * len..][..len].chunks_exact_mut(ROWS);
        for (lanes, column) in panel.zip(from.column_iter()) {
            let lanes = &mut lanes[here.start % ROWS..][..here.len()];
            let numbers = &column.as_slice()[here.start - first..][..here.len()];
            for ((to, number), token) in lanes.iter_mut().zip(numbers).zip(here.clone()) {
                *to = store(*number, token);
            }
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
    for (scale, row) in scales[first..].iter_mut().zip(from.row_iter()) {
        *scale = row.iter().fold(0.0, |a: f32, x| a.max(x.abs())) / LEVELS;
    }
    // 0 where all are
    write(levels, first, from, |x, token| (x / scales[token]).round() as i8);
}

/// The largest level.
const LEVELS: f32 = 127.0;
