//! The gate of a feed-forward layer, several numbers at once.
//!
//! `gate(x W_g) · (x W_u)`, entry by entry. Both gates in use are `x · sigmoid(u)`: SiLU
//! with u = x, and the common approximation of GELU with u = √(8/π) (x + 0.044715 x³). A
//! sigmoid is one exponential and one division.

use std::f32::consts::LOG2_E;

use attention::{Error, Matrix, Result};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use tiles::Instructions;
use tiles::exp2::exp2;

/// The numbers that a thread takes at a time.
const PIECE: usize = 16 * 1024;

/// What is done to the first half of a gated layer's entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// `x · sigmoid(x)`, as in SwiGLU.
    Silu,
    /// `x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³)))`, as in GeGLU.
    GeluTanh,
}

/// `out = gate(x W_g) ∘ (x W_u)` from both products side by side, of one
/// [`Product`](crate::Product) with both weights.
///
/// ```
/// use attention::Matrix;
/// use cached::{Gate, gated};
/// use tiles::Instructions;
///
/// let both = Matrix::from_row_slice(1, 2, &[0f32, 5.0]); // sigmoid(0) is ½, and 0 · ½ is 0
/// let mut out = Matrix::zeros(1, 1);
/// gated(Gate::Silu, &both, &mut out, Instructions::best())?;
/// assert_eq!(out[0], 0.0);
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Shapes
/// `both` is `[n, 2 · d_ff]`, what is gated first; `out` is `[n, d_ff]`.
///
/// # Errors
/// [`Error::Shape`].
///
/// # Source
/// Shazeer 2020, "GLU Variants Improve Transformer".
pub fn gated(
    gate: Gate,
    both: &Matrix<f32>,
    out: &mut Matrix<f32>,
    instructions: Instructions,
) -> Result<()> {
    let expected = (out.nrows(), 2 * out.ncols());
    Error::expect_shape("both products", expected, both.shape())?;
    let (first, second) = both.as_slice().split_at(out.len());
    let pieces = out.as_mut_slice().par_chunks_mut(PIECE);
    pieces
        .zip(first.par_chunks(PIECE))
        .zip(second.par_chunks(PIECE))
        .for_each(|((out, x), y)| instructions.run(Gated { gate, x, y, out }));
    Ok(())
}

struct Gated<'a> {
    gate: Gate,
    x: &'a [f32],
    y: &'a [f32],
    out: &'a mut [f32],
}

impl WithSimd for Gated<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { gate, x, y, out } = self;
        let ((x, x_end), (y, y_end)) = (S::as_simd_f32s(x), S::as_simd_f32s(y));
        let (out, out_end) = S::as_mut_simd_f32s(out);
        for ((x, y), out) in x.iter().zip(y).zip(out) {
            *out = simd.mul_f32s(gate.of(simd, *x), *y);
        }
        if !out_end.is_empty() {
            let (x, y) = (simd.partial_load_f32s(x_end), simd.partial_load_f32s(y_end));
            let product = simd.mul_f32s(gate.of(simd, x), y);
            simd.partial_store_f32s(out_end, product);
        }
    }
}

impl Gate {
    #[inline(always)]
    fn of<S: Simd>(self, simd: S, x: S::f32s) -> S::f32s {
        let u = match self {
            Self::Silu => x,
            Self::GeluTanh => {
                let square = simd.mul_f32s(x, x);
                let cubic = simd.splat_f32s(0.044_715);
                let one = simd.splat_f32s(1.0);
                let factor = simd.splat_f32s((8.0 / std::f32::consts::PI).sqrt());
                let sum = simd.mul_add_e_f32s(cubic, square, one);
                simd.mul_f32s(simd.mul_f32s(factor, x), sum)
            }
        };
        let (one, log2_e) = (simd.splat_f32s(1.0), simd.splat_f32s(-LOG2_E));
        let power = exp2(simd, simd.mul_f32s(u, log2_e));
        simd.div_f32s(x, simd.add_f32s(one, power))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::{Rng, SeedableRng, random_matrix};

    #[test]
    fn every_entry_is_the_definition() {
        let rng = &mut Rng::seed_from_u64(1);
        let mut both: Matrix<f32> = random_matrix(7, 2 * 13, 8.0, rng);
        (both[(0, 0)], both[(1, 0)], both[(2, 0)]) = (-300.0, 300.0, f32::NAN);
        let definition = |gate, x: f64| match gate {
            Gate::Silu => x / (1.0 + (-x).exp()),
            Gate::GeluTanh => {
                let u = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
                x / 2.0 * (1.0 + u.tanh())
            }
        };
        for gate in [Gate::Silu, Gate::GeluTanh] {
            for instructions in Instructions::available() {
                let mut out = Matrix::zeros(7, 13);
                gated(gate, &both, &mut out, instructions).unwrap();
                for (i, out) in out.iter().enumerate() {
                    let (x, y) = (both.as_slice()[i], both.as_slice()[i + 7 * 13]);
                    let expected = definition(gate, x.into()) * f64::from(y);
                    let error = (f64::from(*out) - expected).abs();
                    let bound = 2e-6 * expected.abs().max(1.0);
                    let is_right = error <= bound || (x.is_nan() && out.is_nan());
                    assert!(is_right, "{gate:?}, {instructions}, {x}, {y}: {error:e}");
                }
            }
        }
        let refused =
            gated(Gate::Silu, &both, &mut Matrix::zeros(7, 12), Instructions::best());
        assert_eq!(
            refused.unwrap_err().to_string(),
            "both products has shape (7, 26), expected (7, 24)"
        );
    }
}
