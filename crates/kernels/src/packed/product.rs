//! One product of tokens and a weight, by itself: what the last rung's micro-kernel reaches
//! where nothing but a product is asked for.

use attention::{Error, Linear, Matrix, Result};
use pulp::{Simd, WithSimd};

use super::forward::blocks_of_tokens;
use super::memory::Scratch;
use super::merge::merge_block;
use super::panels::Panels;
use super::project::packed;
use super::units::{Blocks, share_out};
use crate::Instructions;
use crate::tile::ROWS;

/// `x · W` with the weight packed once, shared out among the threads of the pool that the
/// caller is in.
///
/// ```
/// use attention::Matrix;
/// use kernels::{Instructions, Product};
///
/// let x = Matrix::from_row_slice(2, 2, &[1f32, 2.0, 3.0, 4.0]);
/// let mut product = Product::new(&x, Instructions::best());
/// let mut out = Matrix::zeros(2, 2);
/// product.of(&x, &mut out)?;
/// assert_eq!(out, &x * &x);
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug)]
pub struct Product {
    weight: Panels,
    d_out: usize,
    instructions: Instructions,
    scratches: Vec<Scratch>,
}

impl Product {
    /// The products with this weight.
    ///
    /// # Shapes
    /// `weight` is `[d_in, d_out]`.
    pub fn new(weight: &Matrix<f32>, instructions: Instructions) -> Self {
        let linear = Linear { weight: weight.clone(), bias: None };
        let d_out = weight.ncols();
        let weight = Panels::new(&linear, 1.0);
        Self { weight, d_out, instructions, scratches: Vec::new() }
    }

    /// Writes `x · W` to `out`.
    ///
    /// # Shapes
    /// `x` is `[n, d_in]`, `out` is `[n, d_out]`.
    ///
    /// # Errors
    /// Other shapes.
    pub fn of(&mut self, x: &Matrix<f32>, out: &mut Matrix<f32>) -> Result<()> {
        let Self { weight, instructions, scratches, .. } = self;
        Error::expect_shape("x", (x.nrows(), weight.d_in()), x.shape())?;
        Error::expect_shape("out", (x.nrows(), self.d_out), out.shape())?;
        let n_threads = rayon::current_num_threads();
        scratches.resize_with(n_threads, Scratch::default);
        for scratch in scratches.iter_mut() {
            scratch.groups = 0..0; // of another matrix
        }
        let blocks = &blocks_of_tokens(out, n_threads);
        share_out(scratches, &|scratch| {
            instructions.run(InBlocks { x, weight, blocks, scratch });
        });
        Ok(())
    }
}

struct InBlocks<'a> {
    x: &'a Matrix<f32>,
    weight: &'a Panels,
    blocks: &'a Blocks<'a, 1>,
    scratch: &'a mut Scratch,
}

impl WithSimd for InBlocks<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { x, weight, blocks, scratch } = self;
        let len = x.ncols() * ROWS;
        while let Some([mut block]) = blocks.take() {
            let (first, n) =
                (block.rows().start / ROWS, block.rows().len().div_ceil(ROWS));
            let panels = packed(x, first, n, scratch);
            let panel = |group: usize| &panels[(group - first) * len..][..len];
            merge_block(simd, panel, weight, &mut block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::{Rng, SeedableRng, max_abs_diff, random_matrix};

    #[test]
    fn every_size_gives_the_product() {
        let rng = &mut Rng::seed_from_u64(7);
        for instructions in Instructions::available() {
            for (n, d_in, d_out) in
                [(1, 1, 1), (30, 16, 16), (48, 7, 9), (500, 33, 40), (0, 4, 4)]
            {
                let weight: Matrix<f32> = random_matrix(d_in, d_out, 1.0, rng);
                let mut product = Product::new(&weight, instructions);
                // A second matrix of the same size is not taken for the first.
                for _ in 0..2 {
                    let x: Matrix<f32> = random_matrix(n, d_in, 1.0, rng);
                    let mut out = Matrix::from_element(n, d_out, f32::NAN);
                    product.of(&x, &mut out).unwrap();
                    let difference = max_abs_diff(&out, &(&x * &weight)).unwrap();
                    assert!(difference < 1e-4, "{instructions}, {n}: {difference:e}");
                }
            }
        }
    }

    #[test]
    fn other_shapes_are_refused() {
        let weight = Matrix::zeros(3, 2);
        let mut product = Product::new(&weight, Instructions::best());
        let mut of = |x, out: (usize, usize)| {
            product.of(&x, &mut Matrix::zeros(out.0, out.1)).unwrap_err().to_string()
        };
        assert!(of(Matrix::zeros(4, 2), (4, 2)).contains("x"));
        assert!(of(Matrix::zeros(4, 3), (4, 3)).contains("out"));
    }
}
