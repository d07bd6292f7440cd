//! One product of tokens and a weight, by itself: what the tile in registers reaches where
//! nothing but a product is asked for.

use attention::{Error, Linear, Matrix, Result};
use pulp::{Simd, WithSimd};
use tiles::Instructions;
use tiles::bytes::{Bytes, Rounded};
use tiles::memory::{Aligned, Scratch, packed};
use tiles::merge::{Weight, blocks_of_tokens, merge_block};
use tiles::panels::Panels;
use tiles::queue::{Blocks, share_out};
use tiles::tile::{COLUMNS, ROWS};

use crate::few::{FEW, few_tokens};
use crate::quantised::{self, InPairs, Quantised};

/// `x · W` with the weight packed once, shared out among the threads of the pool that the
/// caller is in.
///
/// ```
/// use attention::Matrix;
/// use cached::Product;
/// use tiles::Instructions;
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
    weight: Storage,
    d_out: usize,
    instructions: Instructions,
    memory: ProductMemory,
}

/// How a weight is kept.
#[derive(Debug, PartialEq)]
enum Storage {
    /// Every weight is an f32.
    Numbers(Panels),
    /// As a file has it, in few bits; tokens are rounded to 16 bits, and many to 8 where bytes
    /// are multiplied.
    Levels(Quantised, Option<Bytes>),
}

/// What products work in. A product has its own, and those of a whole model, which come one
/// after the other, can share one.
#[derive(Debug, Default)]
pub struct ProductMemory {
    scratches: Vec<Scratch>,
    /// A few tokens, row after row of the weight.
    rows: Aligned,
    /// A few tokens in 16 bits, and many in 8, before a weight in few.
    in_pairs: InPairs,
    in_bytes: Rounded,
}

impl Product {
    /// The products with this weight.
    ///
    /// # Shapes
    /// `weight` is `[d_in, d_out]`.
    pub fn new(weight: &Matrix<f32>, instructions: Instructions) -> Self {
        let linear = Linear { weight: weight.clone(), bias: None };
        Self::of_linear(&linear, instructions)
    }

    /// The same with a bias, where there is one: `x · W + b`.
    pub fn of_linear(linear: &Linear<f32>, instructions: Instructions) -> Self {
        Self::of_panels(Panels::new(linear, 1.0), linear.d_out(), instructions)
    }

    /// A weight that files store as `[d_out, d_in]`, row by row as it is read: it is never
    /// in memory twice.
    ///
    /// ```
    /// use attention::Matrix;
    /// use cached::Product;
    /// use tiles::Instructions;
    ///
    /// let stored = [[1f32, 2.0, 3.0], [4.0, 5.0, 6.0]]; // 3 in, 2 out
    /// let copy = |j: usize, row: &mut [f32]| row.copy_from_slice(&stored[j]);
    /// let mut product = Product::from_rows(3, 2, copy, Instructions::best());
    /// let (x, mut out) = (Matrix::from_row_slice(1, 3, &[1.0, 0.0, 1.0]), Matrix::zeros(1, 2));
    /// product.of(&x, &mut out)?;
    /// assert_eq!(out.as_slice(), [4.0, 10.0]);
    /// # Ok::<(), attention::Error>(())
    /// ```
    ///
    /// # Shapes
    /// `read` is given the number of a row, below `d_out`, and `d_in` entries to write.
    pub fn from_rows(
        d_in: usize,
        d_out: usize,
        read: impl Fn(usize, &mut [f32]) + Sync,
        instructions: Instructions,
    ) -> Self {
        Self::of_panels(Panels::from_rows(d_in, d_out, read), d_out, instructions)
    }

    fn of_panels(weight: Panels, d_out: usize, instructions: Instructions) -> Self {
        let (weight, memory) = (Storage::Numbers(weight), ProductMemory::default());
        Self { weight, d_out, instructions, memory }
    }

    /// A weight in few bits, which stays so: a few tokens, rounded to 16 bits, meet it in
    /// registers. More than 8 are rounded to 8 bits where the processor multiplies bytes
    /// ([`Bytes`](tiles::bytes::Bytes)), unless [`in_f32`](Self::in_f32) forbids it; else each
    /// block of 96 makes numbers of the rows that it meets.
    pub fn of_levels(weight: Quantised, instructions: Instructions) -> Self {
        let (d_out, memory) = (weight.d_out(), ProductMemory::default());
        let bytes = Bytes::with(instructions);
        let bytes = bytes.filter(|_| Rounded::BLOCKS.contains(&weight.block()));
        Self { weight: Storage::Levels(weight, bytes), d_out, instructions, memory }
    }

    /// From now on no token is rounded to 8 bits: with a weight in few bits slower, and alike
    /// on all machines.
    pub fn in_f32(&mut self) {
        if let Storage::Levels(_, bytes) = &mut self.weight {
            *bytes = None;
        }
    }

    /// From now on these instructions compute it.
    pub fn compute_with(&mut self, instructions: Instructions) {
        self.instructions = instructions;
        if let Storage::Levels(_, bytes) = &mut self.weight {
            *bytes = bytes.and_then(|_| Bytes::with(instructions));
        }
    }

    /// The width of a token that goes in.
    pub fn d_in(&self) -> usize {
        match &self.weight {
            Storage::Numbers(panels) => panels.d_in(),
            Storage::Levels(weight, _) => weight.d_in(),
        }
    }

    /// The width of what comes out.
    pub fn d_out(&self) -> usize {
        self.d_out
    }

    /// The bytes of the weight and its bias, which a product reads.
    pub fn bytes(&self) -> usize {
        match &self.weight {
            Storage::Numbers(panels) => panels.bytes(),
            Storage::Levels(weight, _) => weight.bytes(),
        }
    }

    /// Row `j` of the weight as files store it: the `d_in` entries that output `j` is made
    /// with. In a model whose embedding is its unembedding too, this is token `j`.
    ///
    /// # Errors
    /// [`Error::Length`] where `row` has another length, [`Error::Shape`] where there is no
    /// such output.
    pub fn row(&self, j: usize, row: &mut [f32]) -> Result<()> {
        Error::expect_length("row", self.d_in(), row.len())?;
        if j >= self.d_out {
            let (expected, found) = ((self.d_out, self.d_in()), (j + 1, self.d_in()));
            return Err(Error::Shape { what: format!("row {j}"), expected, found });
        }
        let panels = match &self.weight {
            Storage::Numbers(panels) => panels,
            Storage::Levels(weight, _) => return weight.row(j, row),
        };
        let (panel, _) = panels.panel(j / COLUMNS);
        for (to, numbers) in row.iter_mut().zip(panel.chunks_exact(COLUMNS)) {
            *to = numbers[j % COLUMNS];
        }
        Ok(())
    }

    /// Writes `x · W`, and the bias where there is one, to `out`.
    ///
    /// Up to 8 tokens read each number of the weight once, from the first to the last, and
    /// take as long as memory takes; more go through tiles of 48 tokens.
    ///
    /// # Shapes
    /// `x` is `[n, d_in]`, `out` is `[n, d_out]`.
    ///
    /// # Errors
    /// Other shapes.
    pub fn of(&mut self, x: &Matrix<f32>, out: &mut Matrix<f32>) -> Result<()> {
        let mut memory = std::mem::take(&mut self.memory);
        let done = self.of_in(&mut memory, x, out);
        self.memory = memory;
        done
    }

    /// The same in another memory than its own.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn of_in(
        &self,
        memory: &mut ProductMemory,
        x: &Matrix<f32>,
        out: &mut Matrix<f32>,
    ) -> Result<()> {
        let Self { weight, instructions, .. } = self;
        let ProductMemory { scratches, rows, in_pairs, in_bytes } = memory;
        Error::expect_shape("x", (x.nrows(), self.d_in()), x.shape())?;
        Error::expect_shape("out", (x.nrows(), self.d_out), out.shape())?;
        if let (Storage::Levels(weight, Some(bytes)), true) = (weight, x.nrows() > FEW) {
            let how = (*bytes, *instructions);
            return quantised::in_bytes(how, x, weight, in_bytes, out);
        }
        if x.nrows() <= FEW || x.ncols() == 0 {
            match weight {
                Storage::Numbers(panels) => {
                    few_tokens(*instructions, x, panels, rows, out)
                }
                Storage::Levels(weight, _) => {
                    quantised::few_tokens(*instructions, x, weight, in_pairs, out);
                }
            }
            return Ok(());
        }
        let n_threads = rayon::current_num_threads();
        scratches.resize_with(n_threads, Scratch::default);
        for scratch in scratches.iter_mut() {
            scratch.groups = 0..0; // of another matrix
        }
        let blocks = &blocks_of_tokens(out, n_threads);
        share_out(scratches, &|scratch| match weight {
            Storage::Numbers(weight) => {
                instructions.run(InBlocks { x, weight, blocks, scratch });
            }
            Storage::Levels(weight, _) => {
                instructions.run(InBlocks { x, weight, blocks, scratch });
            }
        });
        Ok(())
    }
}

struct InBlocks<'a, W> {
    x: &'a Matrix<f32>,
    weight: &'a W,
    blocks: &'a Blocks<'a, 1>,
    scratch: &'a mut Scratch,
}

impl<W: Weight> WithSimd for InBlocks<'_, W> {
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
mod tests;
