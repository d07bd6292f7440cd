//! The same tiles, shared out among threads.
//!
//! Heads and sequences know nothing of each other, and nor do the queries of a head: each
//! block of queries of each head is a piece of work by itself. A projection is cut into
//! blocks of columns, which lie one after the other in memory, so that each thread writes
//! its own piece of the result. Each product is made by one thread.
//!
//! **What it buys:** nearly as many times the speed as there are processors.
//!
//! **Where it is slower:** handing out work takes some microseconds, which a few tokens
//! do not earn back.

use attention::{Dims, LayerParameters, Linear, Matrix, Result};
use nalgebra::DMatrixViewMut;
use rayon::prelude::*;
use tiles::Instructions;
use tiles::exp2::exp_in_place;

use super::one_product::Joined;
use super::tiles::{Head, QUERIES, blocks};
use crate::{Inputs, Rung};

/// The layer in tiles, on every thread of the pool that it is called from.
#[derive(Debug, Clone)]
pub struct Threads {
    w: Joined,
    instructions: Instructions,
}

impl Threads {
    /// The layer with these parameters.
    pub fn new(parameters: &LayerParameters<f32>) -> Self {
        Self { w: Joined::new(parameters), instructions: Instructions::best() }
    }
}

impl Rung for Threads {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn dims(&self) -> Dims {
        self.w.packed.dims()
    }

    fn forward(&mut self, inputs: &Inputs<'_>, out: &mut Matrix<f32>) -> Result<()> {
        let (dims, lengths) = (self.dims(), inputs.check(self.dims(), out)?);
        let projected = self.w.project(inputs, apply)?;

        let (n_q, d_v) = (lengths.n_q, dims.d_v());
        let n_heads = lengths.n_sequences * dims.n_heads();
        let exp = |numbers: &mut [f32]| exp_in_place(self.instructions, numbers);
        let head = |n| {
            let (s, i) = (n % lengths.n_sequences, n / lengths.n_sequences);
            Head::new(dims, inputs, lengths, &projected, s, i)
        };
        let heads: Vec<Head<'_>> = (0..n_heads).into_par_iter().map(head).collect();
        let blocks: Vec<_> = blocks(0..n_q, QUERIES).collect();
        let pieces: Vec<_> = heads
            .par_iter()
            .flat_map(|head| blocks.par_iter().map(|b| head.attend(b.clone(), exp)))
            .collect();

        // One head's columns of all sequences lie one after the other.
        let mut concat = Matrix::zeros(out.nrows(), dims.concat_width());
        concat
            .as_mut_slice()
            .par_chunks_mut(out.nrows() * d_v)
            .zip(pieces.par_chunks(lengths.n_sequences * blocks.len()))
            .for_each(|(columns, pieces)| {
                stack(columns, out.nrows(), pieces);
            });
        out.copy_from(&apply(self.w.packed.w_o(), &concat)?);
        Ok(())
    }
}

/// `x · W + b`, each thread some of its columns.
fn apply(linear: &Linear<f32>, x: &Matrix<f32>) -> Result<Matrix<f32>> {
    let (n_rows, d_out) = (x.nrows(), linear.d_out());
    let width = d_out.div_ceil(2 * rayon::current_num_threads());
    let mut out = Matrix::zeros(n_rows, d_out);
    out.as_mut_slice().par_chunks_mut(n_rows * width).enumerate().for_each(
        |(n, part)| {
            let n_columns = part.len() / n_rows;
            let mut part = DMatrixViewMut::from_slice(part, n_rows, n_columns);
            part.gemm(1.0, x, &linear.weight.columns(n * width, n_columns), 0.0);
            let bias = linear.bias.iter().flat_map(|b| b.iter().skip(n * width));
            for (mut feature, &b) in part.column_iter_mut().zip(bias) {
                feature.add_scalar_mut(b);
            }
        },
    );
    Ok(out)
}

/// Stacks blocks of rows.
fn stack(columns: &mut [f32], n_rows: usize, pieces: &[Matrix<f32>]) {
    let n_columns = columns.len() / n_rows;
    let mut all = DMatrixViewMut::from_slice(columns, n_rows, n_columns);
    let mut row = 0;
    for piece in pieces {
        all.rows_mut(row, piece.nrows()).copy_from(piece);
        row += piece.nrows();
    }
}
