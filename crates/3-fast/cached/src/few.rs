//! A few tokens through a weight: what one new token of each sequence needs.
//!
//! A tile of 48 tokens uses each number of a weight 48 times. One token uses it once, so
//! the time is that of reading the weight from memory, and all that a loop can do is not to
//! be slower. The panels of a weight are read as they lie, from the first number to the
//! last: 8 columns of a row are multiplied by one entry of the token and added to 8 sums.
//!
//! Vectors of 16 would hold two rows, and the entries of two would have to be spread over
//! them: written 8 times beforehand they fill the nearest cache, through which the weight
//! comes too, and it was slower by a quarter. So there are never more than 8 in a vector.

use attention::Matrix;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use tiles::Instructions;
use tiles::memory::Aligned;
use tiles::panels::Panels;
use tiles::tile::COLUMNS;

/// Up to so many tokens go this way. Beyond, a tile with lanes that stay empty is as fast.
pub(crate) const FEW: usize = 8;

/// Tokens whose sums fit into registers, at most.
const TOKENS: usize = 4;

/// The bytes of a weight that a thread takes at a time, at most.
const PIECE: usize = 128 * 1024;

/// `out = x · W + b`, each number of W read from memory once.
///
/// # Shapes
/// `x` is `[n, d_in]` and `out` `[n, d_out]`, for n up to [`FEW`].
pub(crate) fn few_tokens(
    instructions: Instructions,
    x: &Matrix<f32>,
    weight: &Panels,
    rows: &mut Aligned,
    out: &mut Matrix<f32>,
) {
    let (n, d_in) = x.shape();
    let rows = rows.take(n * d_in);
    in_groups(x, rows);
    let panels = panels_of_a_piece(weight.bytes(), out.ncols().div_ceil(COLUMNS));
    let (x, pieces) = (&*rows, panels * COLUMNS * n.max(1));
    out.as_mut_slice().par_chunks_mut(pieces).enumerate().for_each(|(i, out)| {
        let first = i * panels;
        instructions.run_in_eights(FewTokens { x, n, weight, first, out });
    });
}

/// The tokens as loops read them, `[d_in][tokens of the group]` of each group.
pub(crate) fn in_groups(x: &Matrix<f32>, rows: &mut [f32]) {
    let (n, d_in) = x.shape();
    if n == 1 {
        return rows.copy_from_slice(x.as_slice()); // and no call for each entry
    }
    for (token, n_tokens) in groups(n) {
        let to = &mut rows[token * d_in..][..n_tokens * d_in];
        for (to, from) in to.chunks_exact_mut(n_tokens).zip(x.column_iter()) {
            to.copy_from_slice(&from.as_slice()[token..token + n_tokens]);
        }
    }
}

/// So many panels of a weight a thread takes at a time: as many pieces for each thread, so
/// that none waits for a last one.
pub(crate) fn panels_of_a_piece(bytes: usize, n_panels: usize) -> usize {
    let n_threads = rayon::current_num_threads();
    let n_pieces = bytes.div_ceil(PIECE).next_multiple_of(2 * n_threads);
    n_panels.div_ceil(n_pieces.max(1)).max(1)
}

/// Tokens that go through a panel together: the first, and how many.
pub(crate) fn groups(n: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut token = 0;
    std::iter::from_fn(move || {
        let n_tokens = [TOKENS, 2, 1].into_iter().find(|&some| some <= n - token)?;
        token += n_tokens;
        Some((token - n_tokens, n_tokens))
    })
}

/// Some panels of the weight.
struct FewTokens<'a> {
    /// `[d_in][tokens of the group]` of each group.
    x: &'a [f32],
    n: usize,
    weight: &'a Panels,
    /// The first panel.
    first: usize,
    /// `[column][n]`
    out: &'a mut [f32],
}

impl WithSimd for FewTokens<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { x, n, weight, first, out } = self;
        for (i, out) in out.chunks_mut(COLUMNS * n).enumerate() {
            let (panel, bias) = weight.panel(first + i);
            let to = &mut To { bias, n, out };
            for (token, n_tokens) in groups(n) {
                let x = &x[token * weight.d_in()..];
                // Sums enough to hide how long one takes, and few enough for registers.
                match n_tokens {
                    TOKENS => sums::<S, TOKENS, 2>(simd, panel, x, token, to),
                    2 => sums::<S, 2, 4>(simd, panel, x, token, to),
                    _ => sums::<S, 1, 4>(simd, panel, x, token, to),
                }
            }
        }
    }
}

/// `Σ_p x[token, p] · panel[p, column]` of T tokens; row p goes to sum p modulo U.
#[inline(always)]
fn sums<S: Simd, const T: usize, const U: usize>(
    simd: S,
    panel: &[f32],
    x: &[f32],
    token: usize,
    to: &mut To<'_>,
) {
    let (panel, x) = (panel.as_chunks::<COLUMNS>().0, x.as_chunks::<T>().0);
    let x = &x[..panel.len()];
    let (groups, rest) = panel.as_chunks::<U>();
    let (x_groups, x_rest) = x.as_chunks::<U>();
    let mut sums = [[[simd.splat_f32s(0.0); COLUMNS]; U]; T];
    for (rows, x) in groups.iter().zip(x_groups) {
        for u in 0..U {
            add::<S, T, U>(simd, &rows[u], &x[u], u, &mut sums);
        }
    }
    for (row, x) in rest.iter().zip(x_rest) {
        add::<S, T, U>(simd, row, x, 0, &mut sums);
    }
    for t in 0..T {
        for v in 0..COLUMNS / S::F32_LANES {
            let mut sum = sums[t][0][v];
            for u in 1..U {
                sum = simd.add_f32s(sum, sums[t][u][v]);
            }
            to.put::<S>(token + t, v, sum);
        }
    }
}

/// One row of a panel. Of each sum's vectors, as many are in use as 8 columns take.
#[inline(always)]
fn add<S: Simd, const T: usize, const U: usize>(
    simd: S,
    row: &[f32; COLUMNS],
    x: &[f32; T],
    u: usize,
    sums: &mut [[[S::f32s; COLUMNS]; U]; T],
) {
    let row = S::as_simd_f32s(row).0;
    for t in 0..T {
        let x = simd.splat_f32s(x[t]);
        for v in 0..COLUMNS / S::F32_LANES {
            sums[t][u][v] = simd.mul_add_e_f32s(row[v], x, sums[t][u][v]);
        }
    }
}

/// Where the sums of a panel go.
pub(crate) struct To<'a> {
    pub bias: &'a [f32],
    pub n: usize,
    /// `[column][n]`, of up to 8 columns.
    pub out: &'a mut [f32],
}

impl To<'_> {
    /// Vector `v` of a token.
    #[inline(always)]
    pub fn put<S: Simd>(&mut self, token: usize, v: usize, sums: S::f32s) {
        let sums: &[f32] = pulp::bytemuck::cast_slice(std::slice::from_ref(&sums));
        let first = v * S::F32_LANES;
        let columns = self.out.chunks_exact_mut(self.n).skip(first);
        for ((column, sum), bias) in columns.zip(sums).zip(&self.bias[first..]) {
            column[token] = bias + sum;
        }
    }
}
