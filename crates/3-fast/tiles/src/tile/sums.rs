//! Where the sums of a tile begin, and where they go.

use pulp::Simd;

use super::{vector, vector_mut};

/// What a tile does with its sums, before the first product and after the last.
///
/// A trait and not two closures: its methods become part of the tile, however long they
/// are. A closure that is not inlined is compiled without this processor's instructions.
pub trait Sums<S: Simd> {
    /// What vector `v` of column `j` begins with: 0, unless somebody knows better.
    #[inline(always)]
    fn start(&mut self, simd: S, _j: usize, _v: usize) -> S::f32s {
        simd.splat_f32s(0.0)
    }

    /// Takes what vector `v` of columns `j..j + N` came to.
    fn done<const N: usize>(&mut self, simd: S, j: usize, v: usize, sums: [S::f32s; N]);
}

/// New sums, `[8][48]`.
pub struct New<'a>(pub &'a mut [f32]);

impl<S: Simd> Sums<S> for New<'_> {
    #[inline(always)]
    fn done<const N: usize>(&mut self, _: S, j: usize, v: usize, sums: [S::f32s; N]) {
        put::<S, N>(self.0, j, v, sums);
    }
}

/// Sums that are added to what stands there, `[8][48]`.
pub struct AddTo<'a>(pub &'a mut [f32]);

impl<S: Simd> Sums<S> for AddTo<'_> {
    #[inline(always)]
    fn start(&mut self, _: S, j: usize, v: usize) -> S::f32s {
        vector::<S>(self.0, j, v)
    }

    #[inline(always)]
    fn done<const N: usize>(&mut self, _: S, j: usize, v: usize, sums: [S::f32s; N]) {
        put::<S, N>(self.0, j, v, sums);
    }
}

/// Sums on top of a bias, `[8]`, for each column.
pub struct Biased<'a> {
    /// `[8]`.
    pub bias: &'a [f32],
    /// `[8][48]`.
    pub to: &'a mut [f32],
}

impl<S: Simd> Sums<S> for Biased<'_> {
    #[inline(always)]
    fn start(&mut self, simd: S, j: usize, _: usize) -> S::f32s {
        simd.splat_f32s(self.bias[j])
    }

    #[inline(always)]
    fn done<const N: usize>(&mut self, _: S, j: usize, v: usize, sums: [S::f32s; N]) {
        put::<S, N>(self.to, j, v, sums);
    }
}

/// Vector `v` of rows `j..j + N` of a panel.
#[inline(always)]
pub fn put<S: Simd, const N: usize>(
    panel: &mut [f32],
    j: usize,
    v: usize,
    vectors: [S::f32s; N],
) {
    for i in 0..N {
        *vector_mut::<S>(panel, j + i, v) = vectors[i];
    }
}
