//! One product of tokens and a weight, by itself: what the tile in registers reaches where
//! nothing but a product is asked for.

use attention::{Error, Linear, Matrix, Result};
use pulp::{Simd, WithSimd};
use tiles::Instructions;
use tiles::bytes::{Bytes, Rounded};
use tiles::memory::{Aligned, Scratch, packed};
use tiles::merge::{Weight, blocks_of_tokens, merge_block};
use tiles::panels::Panels;
use tiles::tile::{COLUMNS, ROWS};
use tiles::units::{Blocks, share_out};

use crate::few::{FEW, few_tokens};
use crate::quantised::{self, Quantised};

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
    weight: Kept,
    d_out: usize,
    instructions: Instructions,
    memory: ProductMemory,
}

/// How a weight is kept.
#[derive(Debug, PartialEq)]
enum Kept {
    /// Every weight is an f32.
    Numbers(Panels),
    /// As a file has it, in few bits.
    Levels(Quantised),
}

/// What products work in. A product has its own, and those of a whole model, which come one
/// after the other, can share one.
#[derive(Debug, Default)]
pub struct ProductMemory {
    scratches: Vec<Scratch>,
    /// A few tokens, row after row of the weight.
    rows: Aligned,
    /// Many tokens in 8 bits, before a weight in few.
    rounded: Rounded,
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
        let (weight, memory) = (Kept::Numbers(weight), ProductMemory::default());
        Self { weight, d_out, instructions, memory }
    }

    /// A weight in few bits, which stays so: a few tokens meet it in registers. More than 8 are
    /// rounded to 8 bits where the processor multiplies bytes four at a time
    /// ([`Bytes`](tiles::bytes::Bytes)); elsewhere each block of 96 makes numbers of the rows
    /// that it meets.
    pub fn of_levels(weight: Quantised, instructions: Instructions) -> Self {
        let (d_out, memory) = (weight.d_out(), ProductMemory::default());
        Self { weight: Kept::Levels(weight), d_out, instructions, memory }
    }

    /// The width of a token that goes in.
    pub fn d_in(&self) -> usize {
        match &self.weight {
            Kept::Numbers(panels) => panels.d_in(),
            Kept::Levels(weight) => weight.d_in(),
        }
    }

    /// The width of what comes out.
    pub fn d_out(&self) -> usize {
        self.d_out
    }

    /// The bytes of the weight and its bias, which a product reads.
    pub fn bytes(&self) -> usize {
        match &self.weight {
            Kept::Numbers(panels) => panels.bytes(),
            Kept::Levels(weight) => weight.bytes(),
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
            Kept::Numbers(panels) => panels,
            Kept::Levels(weight) => return weight.row(j, row),
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
        let ProductMemory { scratches, rows, rounded } = memory;
        Error::expect_shape("x", (x.nrows(), self.d_in()), x.shape())?;
        Error::expect_shape("out", (x.nrows(), self.d_out), out.shape())?;
        if x.nrows() <= FEW || x.ncols() == 0 {
            match weight {
                Kept::Numbers(panels) => few_tokens(*instructions, x, panels, rows, out),
                Kept::Levels(weight) => {
                    quantised::few_tokens(*instructions, x, weight, rows, out);
                }
            }
            return Ok(());
        }
        if let Kept::Levels(weight) = weight
            && let Some(bytes) = Bytes::with(*instructions)
            && quantised::many_tokens((*instructions, bytes), x, weight, rounded, out)
        {
            return Ok(());
        }
        let n_threads = rayon::current_num_threads();
        scratches.resize_with(n_threads, Scratch::default);
        for scratch in scratches.iter_mut() {
            scratch.groups = 0..0; // of another matrix
        }
        let blocks = &blocks_of_tokens(out, n_threads);
        share_out(scratches, &|scratch| match weight {
            Kept::Numbers(weight) => {
                instructions.run(InBlocks { x, weight, blocks, scratch });
            }
            Kept::Levels(weight) => {
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
mod tests {
    use super::*;
    use crate::quantised::Bits;
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
    fn a_few_tokens_and_many_have_one_answer() {
        let rng = &mut Rng::seed_from_u64(8);
        for instructions in Instructions::available() {
            for (d_in, d_out) in [(1, 1), (3, 17), (5, 8), (33, 70), (130, 24), (0, 3)] {
                let linear: Linear<f32> = Linear::random(d_in, d_out, true, rng);
                let mut product = Product::of_linear(&linear, instructions);
                for n in 0..=FEW + 1 {
                    let x: Matrix<f32> = random_matrix(n, d_in, 1.0, rng);
                    let mut out = Matrix::from_element(n, d_out, f32::NAN);
                    product.of(&x, &mut out).unwrap();
                    let expected = linear.cast::<f64>().forward(&x.cast()).unwrap();
                    let difference = max_abs_diff(&out.cast(), &expected).unwrap();
                    let case = format!("{instructions}, {n} × {d_in} × {d_out}");
                    assert!(difference < 1e-5, "{case}: {difference:e}");
                }
            }
        }
    }

    #[test]
    fn levels_have_the_answer_of_their_numbers_for_any_tokens() {
        let rng = &mut Rng::seed_from_u64(12);
        for (bits, most) in [(Bits::Four, 15), (Bits::Eight, 255)] {
            let weight = Quantised::from_rows(96, 21, bits, 32, |j, row| {
                let level = |p: usize| ((7 * p + 13 * j) % (most + 1)) as u8;
                row.levels.iter_mut().enumerate().for_each(|(p, to)| *to = level(p));
                row.scales.fill([0.01, -0.07 - j as f32 / 512.0]);
            });
            let weight = weight.unwrap().with_bias(&[0.5; 21]).unwrap();
            let numbers = Product::of_levels(weight.clone(), Instructions::best());
            let read = |j: usize, row: &mut [f32]| numbers.row(j, row).unwrap();
            for instructions in Instructions::available() {
                let mut by_numbers = Product::from_rows(96, 21, read, instructions);
                let mut by_levels = Product::of_levels(weight.clone(), instructions);
                for n in [0, 1, 8, 9, 48, 130] {
                    let x: Matrix<f32> = random_matrix(n, 96, 1.0, rng);
                    let mut out = [0, 1].map(|_| Matrix::from_element(n, 21, f32::NAN));
                    by_numbers.of(&x, &mut out[0]).unwrap();
                    by_levels.of(&x, &mut out[1]).unwrap();
                    let expected = out[0].add_scalar(0.5);
                    let difference = max_abs_diff(&out[1], &expected).unwrap();
                    let is_rounded = n > FEW && Bytes::with(instructions).is_some();
                    let bound =
                        f64::from(if is_rounded { rounding(&x, &weight) } else { 5e-5 });
                    assert!(difference < bound, "{instructions}, {n}: {difference:e}");
                    // The bound is not so wide that all are within it.
                    assert!(
                        !is_rounded || bound < 0.1 * f64::from(expected.amax()),
                        "{bound}"
                    );
                }
            }
        }
    }

    /// The most that an output can be off if every number of a token is off by half a step.
    fn rounding(x: &Matrix<f32>, weight: &Quantised) -> f32 {
        let mut row = vec![0.0; weight.d_in()];
        let mut most = 0f32;
        for j in 0..weight.d_out() {
            weight.row(j, &mut row).unwrap();
            for token in x.row_iter() {
                let blocks = token.iter().copied().collect::<Vec<_>>();
                let blocks = blocks.chunks(32).zip(row.chunks(32));
                let of_block = |(x, w): (&[f32], &[f32])| {
                    let largest = x.iter().fold(0f32, |largest, x| largest.max(x.abs()));
                    largest / 254.0 * w.iter().map(|w| w.abs()).sum::<f32>()
                };
                most = most.max(blocks.map(of_block).sum());
            }
        }
        most
    }

    #[test]
    fn a_nan_stays_in_its_token() {
        let rng = &mut Rng::seed_from_u64(9);
        let mut product =
            Product::new(&random_matrix(20, 9, 1.0, rng), Instructions::best());
        let mut x: Matrix<f32> = random_matrix(5, 20, 1.0, rng);
        x[(3, 19)] = f32::NAN;
        let mut out = Matrix::zeros(5, 9);
        product.of(&x, &mut out).unwrap();
        for (token, row) in out.row_iter().enumerate() {
            assert!(row.iter().all(|y| y.is_nan() == (token == 3)), "{token}: {row}");
        }
    }

    #[test]
    fn a_nan_or_an_infinity_is_never_rounded_away() {
        let weight = Quantised::from_rows(64, 9, Bits::Four, 32, |_, row| {
            row.levels.fill(3);
            row.scales.fill([0.5, -1.0]);
        });
        let mut product = Product::of_levels(weight.unwrap(), Instructions::best());
        for bad in [f32::NAN, f32::INFINITY] {
            let mut x = Matrix::from_element(20, 64, 1.0);
            x[(17, 40)] = bad;
            let mut out = Matrix::zeros(20, 9);
            product.of(&x, &mut out).unwrap();
            for (token, row) in out.row_iter().enumerate() {
                assert!(
                    row.iter().all(|y| y.is_finite() == (token != 17)),
                    "{token}: {row}"
                );
            }
        }
    }

    #[test]
    fn rows_of_a_file_are_the_transposed_weight() {
        let rng = &mut Rng::seed_from_u64(10);
        let stored: Matrix<f32> = random_matrix(21, 13, 1.0, rng); // [d_out, d_in]
        let read = |j: usize, row: &mut [f32]| {
            row.iter_mut().zip(&stored.row(j)).for_each(|(to, from)| *to = *from);
        };
        let product = Product::from_rows(13, 21, read, Instructions::best());
        let transposed = Product::new(&stored.transpose(), Instructions::best());
        assert_eq!(product.weight, transposed.weight);
        assert_eq!(product.bytes(), 24 * (13 + 1) * 4); // in panels of 8
        let mut row = [0.0; 13];
        product.row(20, &mut row).unwrap();
        assert!(row.iter().eq(stored.row(20).iter()));
        let refused = product.row(21, &mut row).unwrap_err();
        assert_eq!(refused.to_string(), "row 21 has shape (22, 13), expected (21, 13)");
        let refused = product.row(0, &mut row[1..]).unwrap_err();
        assert_eq!(refused.to_string(), "row has 12 entries, expected 13");
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
