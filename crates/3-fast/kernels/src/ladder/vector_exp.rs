//! The same tiles, their exponentials taken several at once.
//!
//! **What it buys:** each share costs one exponential, and 2 · (d_k + d_v) operations in
//! products. A product's instructions work on 8 or 16 numbers at once and `f32::exp` on
//! one: one call takes about as long as all of those do for d_k = d_v = 64. There are n²
//! shares a head, so the longer a sequence, the more is won.
//!
//! **Where it is slower:** nowhere. It is a little less exact: a share errs by 1e-7 of
//! itself, and one below 2⁻¹²⁶ becomes 0.

use attention::{Dims, LayerParameters, Matrix, Result};
use tiles::Instructions;
use tiles::exp2::exp_in_place;

use super::one_product::Joined;
use super::tiles::forward_in_tiles;
use crate::{Inputs, Rung};

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
        self.w.packed.dims()
    }

    fn forward(&mut self, inputs: &Inputs<'_>, out: &mut Matrix<f32>) -> Result<()> {
        let exp = |numbers: &mut [f32]| exp_in_place(self.instructions, numbers);
        forward_in_tiles(&self.w, inputs, out, exp)
    }
}
