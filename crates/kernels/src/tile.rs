//! The one product of this crate: a tile of 48 rows and 8 columns, summed in registers.
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
//! same tile is done in pieces of 3 × 4 registers.
//!
//! **Layouts.** `a` is always a panel: for each p, 48 numbers side by side. `b` is read
//! number by number, so it may lie in any way in which its steps are known when the
//! program is compiled: `ROW` numbers from p to p + 1, `COLUMN` from j to j + 1.

use std::ops::Range;

use pulp::Simd;

/// Rows of a tile, and so of every panel.
pub(crate) const ROWS: usize = 48;

/// Columns of a tile.
pub(crate) const COLUMNS: usize = 8;

/// A run of p: `depth` rows of a panel, against as many of `b`.
#[derive(Clone, Copy, Default)]
pub(crate) struct Segment<'a> {
    /// `[depth][48]`.
    pub(crate) a: &'a [f32],
    /// Number (p, j) stands at `p · ROW + j · COLUMN`.
    pub(crate) b: &'a [f32],
    /// How many p.
    pub(crate) depth: usize,
}

/// Lanes of a panel as whole vectors: the vectors that hold them.
#[inline(always)]
pub(crate) fn vectors<S: Simd>(lanes: Range<usize>) -> Range<usize> {
    lanes.start / S::F32_LANES..lanes.end.div_ceil(S::F32_LANES)
}

/// Vector `v` of row `j` of a panel.
#[inline(always)]
pub(crate) fn vector<S: Simd>(panel: &[f32], j: usize, v: usize) -> S::f32s {
    S::as_simd_f32s(&panel[j * ROWS..][..ROWS]).0[v]
}

/// The same, to be written.
#[inline(always)]
pub(crate) fn vector_mut<S: Simd>(panel: &mut [f32], j: usize, v: usize) -> &mut S::f32s {
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

/// One tile, of which only `vectors` are computed: `start(to, j, v)` says what vector v of
/// column j begins with, `done(to, j, v, sum)` takes what it came to.
#[inline(always)]
pub(crate) fn tile<S: Simd, T: ?Sized, const ROW: usize, const COLUMN: usize>(
    simd: S,
    vectors: Range<usize>,
    segments: &[Segment<'_>],
    to: &mut T,
    start: impl Fn(&T, usize, usize) -> S::f32s,
    done: impl Fn(&mut T, usize, usize, S::f32s),
) {
    // The number of registers tells how much fits beside what is read.
    let many_registers = S::REGISTER_COUNT >= 32;
    let mut v = vectors.start;
    while v < vectors.end {
        let m = (vectors.end - v).min(if many_registers { 3 } else { 2 });
        if many_registers {
            let block = Block { v, j: 0 };
            match m {
                3 => block
                    .run::<S, T, ROW, COLUMN, 3, 8>(simd, segments, to, &start, &done),
                2 => block
                    .run::<S, T, ROW, COLUMN, 2, 8>(simd, segments, to, &start, &done),
                _ => block
                    .run::<S, T, ROW, COLUMN, 1, 8>(simd, segments, to, &start, &done),
            }
        } else {
            for j in [0, 4] {
                let block = Block { v, j };
                match m {
                    2 => block.run::<S, T, ROW, COLUMN, 2, 4>(
                        simd, segments, to, &start, &done,
                    ),
                    _ => block.run::<S, T, ROW, COLUMN, 1, 4>(
                        simd, segments, to, &start, &done,
                    ),
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
        T: ?Sized,
        const ROW: usize,
        const COLUMN: usize,
        const M: usize,
        const N: usize,
    >(
        &self,
        simd: S,
        segments: &[Segment<'_>],
        to: &mut T,
        start: &impl Fn(&T, usize, usize) -> S::f32s,
        done: &impl Fn(&mut T, usize, usize, S::f32s),
    ) {
        let mut sums = [[simd.splat_f32s(0.0); M]; N];
        for j in 0..N {
            for m in 0..M {
                sums[j][m] = start(to, self.j + j, self.v + m);
            }
        }
        for &Segment { a, b, depth } in segments {
            let (a, b) = (&a[self.v * S::F32_LANES..], &b[self.j * COLUMN..]);
            sums = accumulate::<S, ROW, COLUMN, M, N>(simd, sums, a, b, depth);
        }
        for j in 0..N {
            for m in 0..M {
                done(to, self.j + j, self.v + m, sums[j][m]);
            }
        }
    }
}

// ANCHOR: accumulate
/// `sums[j][m] += Σ_p a[p][m] · b[p, j]`, M vectors of rows by N columns.
#[inline(always)]
fn accumulate<
    S: Simd,
    const ROW: usize,
    const COLUMN: usize,
    const M: usize,
    const N: usize,
>(
    simd: S,
    mut sums: [[S::f32s; M]; N],
    a: &[f32],
    b: &[f32],
    depth: usize,
) -> [[S::f32s; M]; N] {
    if depth == 0 {
        return sums;
    }
    assert!(a.len() >= (depth - 1) * ROWS + M * S::F32_LANES);
    assert!(b.len() > (depth - 1) * ROW + (N - 1) * COLUMN);
    let (a, b) = (a.as_ptr(), b.as_ptr());
    for p in 0..depth {
        // SAFETY: the assertions above hold for the last p, and so for every one; a vector
        // is as many f32 as it has lanes, and any bits are a vector.
        unsafe {
            let a = a.add(p * ROWS);
            let mut rows = [simd.splat_f32s(0.0); M];
            for m in 0..M {
                rows[m] = a.add(m * S::F32_LANES).cast::<S::f32s>().read_unaligned();
            }
            for j in 0..N {
                let b = simd.splat_f32s(*b.add(p * ROW + j * COLUMN));
                for m in 0..M {
                    sums[j][m] = simd.mul_add_e_f32s(rows[m], b, sums[j][m]);
                }
            }
        }
    }
    sums
}
// ANCHOR_END: accumulate

#[cfg(test)]
mod speed {
    use super::*;
    use crate::Instructions;
    use pulp::WithSimd;
    struct Op<'a, const R: usize, const C: usize> {
        a: &'a [f32],
        b: &'a [f32],
        depth: usize,
        n: usize,
        out: &'a mut [f32],
    }
    impl<const R: usize, const C: usize> WithSimd for Op<'_, R, C> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            for i in 0..self.n {
                let out = &mut self.out[..];
                let b = &self.b[(i % 4) * 8..];
                tile::<S, _, R, C>(
                    simd,
                    0..48 / S::F32_LANES,
                    &[Segment { a: self.a, b, depth: self.depth }],
                    out,
                    |_, _, _| simd.splat_f32s(0.0),
                    |out, j, v, x| {
                        simd.partial_store_f32s(
                            &mut out[j * 48 + v * S::F32_LANES..][..S::F32_LANES],
                            x,
                        )
                    },
                );
            }
        }
    }
    fn go<const R: usize, const C: usize>(ins: Instructions, depth: usize) {
        let a = vec![0.1f32; depth * 48 + 64];
        let b = vec![0.1f32; depth * R + 8 * C + 64];
        let mut out = vec![0f32; 48 * 8];
        let n = 2_000_000_0 / depth;
        let mut best = f64::MAX;
        for _ in 0..15 {
            let t = std::time::Instant::now();
            ins.run(Op::<R, C> { a: &a, b: &b, depth, n: n / 10, out: &mut out });
            best = best.min(t.elapsed().as_secs_f64());
        }
        println!(
            "{ins} R{R} C{C} depth {depth}: {:.1} GFLOP/s",
            2.0 * 384.0 * (depth * (n / 10)) as f64 / best / 1e9
        );
    }
    #[test]
    #[ignore]
    fn speed() {
        for ins in Instructions::available() {
            if ins.name() == "scalar" {
                continue;
            }
            for depth in [32, 64, 128, 512] {
                go::<8, 1>(ins, depth);
                go::<48, 1>(ins, depth);
                if depth <= 48 {
                    go::<1, 48>(ins, depth);
                }
            }
        }
    }
}
