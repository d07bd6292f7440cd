//! The one product of all fast code: a tile of 48 rows and 8 columns, summed in registers.
//!
//! ```text
//! tile[i, j] = start[i, j] + Σ_p  a[p, i] · b[p, j]      i < 48, j < 8
//! ```
//!
//! With AVX-512 a register holds 16 numbers, so the tile is 3 × 8 = 24 registers of the 32
//! there are. For each p, 3 vectors of `a` and 8 single numbers of `b` are read and 24
//! multiply-adds are done: the arithmetic waits for nothing, since 11 reads take less time
//! than 24 multiply-adds, and 24 sums are more than enough to hide that a sum must be
//! ready (4 cycles) before it is added to again. With AVX2 (16 registers of 8 numbers) the
//! same tile is done in pieces of 2 × 4 registers.
//!
//! **Layouts.** `a` is always a panel: for each p, 48 numbers side by side. `b` is read
//! number by number, so it may lie in any way in which its steps are known when the
//! program is compiled: `ROW` numbers from p to p + 1, `COLUMN` from j to j + 1.

mod sums;
mod turn;

use std::ops::Range;

use pulp::Simd;

pub use sums::{AddTo, Biased, New, Sums, put};
pub use turn::{WIDTH, square, turn_8};

/// Rows of a tile, and so of every panel.
pub const ROWS: usize = 48;

/// Columns of a tile.
pub const COLUMNS: usize = 8;

/// A run of p: `depth` rows of a panel, against as many of `b`.
#[derive(Clone, Copy, Default)]
pub struct Segment<'a> {
    /// `[depth][48]`.
    pub a: &'a [f32],
    /// Number (p, j) stands at `p · ROW + j · COLUMN`.
    pub b: &'a [f32],
    /// How many p.
    pub depth: usize,
}

/// Lanes of a panel as whole vectors: the vectors that hold them.
#[inline(always)]
pub fn vectors<S: Simd>(lanes: Range<usize>) -> Range<usize> {
    lanes.start / S::F32_LANES..lanes.end.div_ceil(S::F32_LANES)
}

/// Vector `v` of row `j` of a panel.
#[inline(always)]
pub fn vector<S: Simd>(panel: &[f32], j: usize, v: usize) -> S::f32s {
    S::as_simd_f32s(&panel[j * ROWS..][..ROWS]).0[v]
}

/// The same, to be written.
#[inline(always)]
pub fn vector_mut<S: Simd>(panel: &mut [f32], j: usize, v: usize) -> &mut S::f32s {
    &mut S::as_mut_simd_f32s(&mut panel[j * ROWS..][..ROWS]).0[v]
}

/// A vector from the front of a slice, zeros behind its end.
#[inline(always)]
pub(crate) fn load<S: Simd>(simd: S, from: &[f32]) -> S::f32s {
    let whole = S::as_simd_f32s(from).0.first();
    whole.copied().unwrap_or_else(|| simd.partial_load_f32s(from))
}

/// A vector to the front of a slice, as much of it as there is room for.
#[inline(always)]
pub(crate) fn store<S: Simd>(simd: S, to: &mut [f32], vector: S::f32s) {
    match S::as_mut_simd_f32s(to).0.first_mut() {
        Some(whole) => *whole = vector,
        None => simd.partial_store_f32s(to, vector),
    }
}

/// One tile, of which only `vectors` are computed.
#[inline(always)]
pub fn tile<S: Simd, const ROW: usize, const COLUMN: usize>(
    simd: S,
    vectors: Range<usize>,
    segments: &[Segment<'_>],
    sums: &mut impl Sums<S>,
) {
    // Steps so short that 8 of them cannot overflow.
    const { assert!(ROW > 0 && COLUMN <= 1 << 16) };
    // The number of registers tells how much fits beside what is read.
    let many_registers = S::REGISTER_COUNT >= 32;
    let mut v = vectors.start;
    while v < vectors.end {
        let m = (vectors.end - v).min(if many_registers { 3 } else { 2 });
        if many_registers {
            let block = Block { v, j: 0 };
            match m {
                3 => block.run::<S, ROW, COLUMN, 3, 8>(simd, segments, sums),
                2 => block.run::<S, ROW, COLUMN, 2, 8>(simd, segments, sums),
                _ => block.run::<S, ROW, COLUMN, 1, 8>(simd, segments, sums),
            }
        } else {
            for j in [0, 4] {
                let block = Block { v, j };
                match m {
                    2 => block.run::<S, ROW, COLUMN, 2, 4>(simd, segments, sums),
                    _ => block.run::<S, ROW, COLUMN, 1, 4>(simd, segments, sums),
                }
            }
        }
        v += m;
    }
}

/// The part of a tile that fits into registers at once: its first vector and column.
struct Block {
    v: usize,
    j: usize,
}

impl Block {
    #[inline(always)]
    fn run<
        S: Simd,
        const ROW: usize,
        const COLUMN: usize,
        const M: usize,
        const N: usize,
    >(
        &self,
        simd: S,
        segments: &[Segment<'_>],
        to: &mut impl Sums<S>,
    ) {
        let mut sums = [[simd.splat_f32s(0.0); N]; M];
        for m in 0..M {
            for j in 0..N {
                sums[m][j] = to.start(simd, self.j + j, self.v + m);
            }
        }
        for &Segment { a, b, depth } in segments.iter().filter(|s| s.depth > 0) {
            let (a, b) = (&a[self.v * S::F32_LANES..], &b[self.j * COLUMN..]);
            sums = accumulate::<S, ROW, COLUMN, M, N>(simd, sums, a, b, depth);
        }
        // Not a loop: the compiler might leave it one, and then sums would go to memory first.
        to.done(simd, self.j, self.v, sums[0]);
        if M > 1 {
            to.done(simd, self.j, self.v + 1, sums[1]);
        }
        if M > 2 {
            to.done(simd, self.j, self.v + 2, sums[2]);
        }
    }
}

// ANCHOR: accumulate
/// `sums[m][j] + Σ_p a[p][m] · b[p, j]`, M vectors of rows by N columns, `depth` at least 1.
#[inline(always)]
fn accumulate<
    S: Simd,
    const ROW: usize,
    const COLUMN: usize,
    const M: usize,
    const N: usize,
>(
    simd: S,
    mut sums: [[S::f32s; N]; M],
    a: &[f32],
    b: &[f32],
    depth: usize,
) -> [[S::f32s; N]; M] {
    let (of_a, of_b) = (M * S::F32_LANES, (N - 1) * COLUMN + 1);
    // The number of rows, by division, because a multiplication could overflow.
    let rows_of =
        |len: usize, row: usize, step| len.checked_sub(row).map(|l| l / step + 1);
    assert!(
        rows_of(a.len(), of_a, ROWS) >= Some(depth)
            && rows_of(b.len(), of_b, ROW) >= Some(depth),
        "a segment ends before its last row"
    );
    let (a, b) = (a.as_ptr(), b.as_ptr());
    for p in 0..depth {
        // SAFETY: the assertions above hold for the last p, and so for every p (`tile` has
        // checked that of_b did not overflow); a vector is as many f32 as it has lanes,
        // and any bits are a vector.
        unsafe {
            let a = a.add(p * ROWS);
            let mut rows = [simd.splat_f32s(0.0); M];
            for m in 0..M {
                rows[m] = a.add(m * S::F32_LANES).cast::<S::f32s>().read_unaligned();
            }
            for j in 0..N {
                let b = simd.splat_f32s(*b.add(p * ROW + j * COLUMN));
                for m in 0..M {
                    sums[m][j] = simd.mul_add_e_f32s(rows[m], b, sums[m][j]);
                }
            }
        }
    }
    sums
}
// ANCHOR_END: accumulate

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Instructions;
    use pulp::WithSimd;

    /// A tile of two segments, added to what stands in `to`, in some lanes.
    struct Op<'a, const ROW: usize, const COLUMN: usize> {
        lanes: Range<usize>,
        segments: [Segment<'a>; 2],
        to: &'a mut [f32],
    }

    impl<const ROW: usize, const COLUMN: usize> WithSimd for Op<'_, ROW, COLUMN> {
        type Output = Range<usize>;

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Range<usize> {
            let vectors = vectors::<S>(self.lanes);
            let sums = &mut AddTo(self.to);
            tile::<S, ROW, COLUMN>(simd, vectors.clone(), &self.segments, sums);
            vectors.start * S::F32_LANES..vectors.end * S::F32_LANES
        }
    }

    fn is_the_product<const ROW: usize, const COLUMN: usize>() {
        let number = |i: usize| ((i * 37 + 11) % 64) as f32 - 31.0;
        for (depths, lanes) in [([3, 5], 0..48), ([1, 0], 0..20), ([2, 7], 17..33)] {
            let a: [Vec<f32>; 2] = depths.map(|d| (0..d * ROWS).map(number).collect());
            let b: [Vec<f32>; 2] =
                depths.map(|d| (0..d * ROW + 8 * COLUMN).map(number).collect());
            let segments =
                [0, 1].map(|s| Segment { a: &a[s], b: &b[s], depth: depths[s] });
            for instructions in Instructions::available() {
                let mut found: Vec<f32> = (0..COLUMNS * ROWS).map(number).collect();
                let before = found.clone();
                let lanes = lanes.clone();
                let op = Op::<ROW, COLUMN> { lanes, segments, to: &mut found };
                let written = instructions.run(op);
                for (at, &found) in found.iter().enumerate() {
                    let (j, i) = (at / ROWS, at % ROWS);
                    let products = segments.iter().flat_map(|Segment { a, b, depth }| {
                        (0..*depth)
                            .map(move |p| a[p * ROWS + i] * b[p * ROW + j * COLUMN])
                    });
                    let sum = if written.contains(&i) { products.sum() } else { 0.0 };
                    assert_eq!(found, before[at] + sum, "{instructions}, ({i}, {j})");
                }
            }
        }
    }

    #[test]
    fn a_tile_is_the_product_for_every_layout() {
        is_the_product::<8, 1>();
        is_the_product::<16, 1>();
        is_the_product::<48, 1>();
        is_the_product::<1, 48>();
    }

    #[test]
    #[should_panic(expected = "a segment ends before its last row")]
    fn what_would_be_read_beyond_the_end_is_refused() {
        let (a, b) = ([0.0; 2 * ROWS], [0.0; 15]);
        let short = Segment { a: &a, b: &b, depth: 2 };
        let to = &mut [0.0; COLUMNS * ROWS];
        let op = Op::<8, 1> { lanes: 0..48, segments: [short; 2], to };
        Instructions::best().run(op);
    }

    #[test]
    #[should_panic(expected = "a segment ends before its last row")]
    fn no_depth_is_so_large_that_it_overflows() {
        let (a, b) = ([0.0; ROWS], [0.0; 8]);
        // Times 48 numbers a row, this is 0 in 64 bits.
        let endless = Segment { a: &a, b: &b, depth: (1 << 60) + 1 };
        let to = &mut [0.0; COLUMNS * ROWS];
        let op = Op::<8, 1> { lanes: 0..48, segments: [endless; 2], to };
        Instructions::best().run(op);
    }
}
