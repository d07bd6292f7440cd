//! One product, all tokens by W^Q, by the last rung's micro-kernel and by the library that
//! the rungs before it call.

use anyhow::Result;
use attention::Matrix;
use cached::Product;
use rayon::prelude::*;
use tiles::Instructions;

use super::variants::{Variant, written};
use crate::layer::Layer;
use crate::results::Results;
use runs::{Case, Pass};

/// Each way to compute the product.
pub fn products(layer: &Layer, instructions: Instructions) -> Vec<Box<dyn Variant>> {
    let w_q = layer.w_q();
    let product = |name, how| -> Box<dyn Variant> {
        Box::new(OneProduct { name, how, out: Matrix::zeros(0, 0) })
    };
    let packed = || Product::new(&w_q, instructions);
    vec![
        product("packed product", How::Packed(packed())),
        product(
            "packed product, packed anew",
            How::PackedAnew(packed(), w_q.clone(), instructions),
        ),
        product("matrixmultiply product", How::Library(w_q.clone())),
    ]
}

enum How {
    /// The weight was packed when the layer was made.
    Packed(Product),
    /// The weight is packed in each call, as a library must that is handed a matrix.
    PackedAnew(Product, Matrix<f32>, Instructions),
    /// `matrixmultiply`, through nalgebra, with some columns of the weight for each thread.
    Library(Matrix<f32>),
}

struct OneProduct {
    name: &'static str,
    how: How,
    out: Matrix<f32>,
}

impl Variant for OneProduct {
    fn name(&self) -> &'static str {
        self.name
    }

    fn pass(&self) -> Pass {
        Pass::Product
    }

    fn needs(&self, _: &Case) -> u64 {
        0
    }

    fn prepare(&mut self, layer: &Layer) -> Result<()> {
        self.out = written(layer);
        Ok(())
    }

    fn run(&mut self, layer: &Layer, _: bool) -> Result<()> {
        let (x, out) = (&layer.x, &mut self.out);
        match &mut self.how {
            How::Packed(product) => product.of(x, out)?,
            How::PackedAnew(product, weight, instructions) => {
                *product = Product::new(weight, *instructions);
                product.of(x, out)?;
            }
            How::Library(weight) => by_library(x, weight, out),
        }
        Ok(())
    }

    fn results(&self) -> Result<Results<f32>> {
        Ok(Results::output(self.out.clone()))
    }

    fn new_results(&self, _: &Layer) -> u64 {
        0
    }
}

fn by_library(x: &Matrix<f32>, weight: &Matrix<f32>, out: &mut Matrix<f32>) {
    let (n_rows, width) = out.shape();
    let some = width.div_ceil(rayon::current_num_threads());
    let parts = out.as_mut_slice().par_chunks_mut((n_rows * some).max(1));
    parts.enumerate().for_each(|(i, part)| {
        let n_columns = part.len() / n_rows;
        let mut part =
            attention::nalgebra::DMatrixViewMut::from_slice(part, n_rows, n_columns);
        part.gemm(1.0, x, &weight.columns(i * some, n_columns), 0.0);
    });
}
