//! The same tiles, their exponentials taken several at once.
//!
//! **What it buys:** the largest step of all on one thread. Each share costs one
//! exponential and 2 · d_k multiply-adds; at d_k = 64 the products take about as long as
//! a hundred numbers' worth of vector instructions, and one call of `f32::exp` as long.
//!
//! **Where it is slower:** nowhere. It is a little less exact: [`crate::exp2`] errs by
//! 1e-7 of a share, and a share below 2^−126 becomes 0.

use attention::{Dims, LayerParameters, Matrix, Result};

use super::one_product::Joined;
use super::tiles::forward_in_tiles;
use crate::exp2::exp_in_place;
use crate::{Inputs, Instructions, Rung};

/// The layer in tiles, with the vectorised exponential.
#[derive(Debug, Clone)]
pub struct VectorExp {
    w: Joined,
    instructions: Instructions,
}

impl VectorExp {
    /// The layer with these parameters.
    pub fn new(parameters: &LayerParameters<f32>) -> Self {
        Self { w: Joined::new(parameters), instructions: Instructions::best() }
    }
}

impl Rung for VectorExp {
    fn name(&self) -> &'static str {
        "vector exp"
    }

    fn dims(&self) -> Dims {
        self.w.wide.dims
    }

    // ANCHOR: forward
    fn forward(&mut self, inputs: &Inputs<'_>, out: &mut Matrix<f32>) -> Result<()> {
        let exp = |numbers: &mut [f32]| exp_in_place(self.instructions, numbers);
        forward_in_tiles(&self.w, inputs, out, exp)
    }
    // ANCHOR_END: forward
}
