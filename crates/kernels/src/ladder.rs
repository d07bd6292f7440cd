//! The rungs, one file each, in the order in which they are climbed.

mod one_product;
mod packed;
mod plain;
mod threads;
mod tiles;
mod vector_exp;

use attention::{Dims, LayerParameters, Matrix, Result};

use crate::Inputs;

pub use one_product::OneProduct;
pub use packed::Packed;
pub use plain::Plain;
pub use threads::Threads;
pub use tiles::Tiles;
pub use vector_exp::VectorExp;

/// One way to compute the layer in f32.
///
/// A rung owns what it needs between calls, so `forward` may reuse memory.
pub trait Rung {
    /// What this rung adds to the one before.
    fn name(&self) -> &'static str;

    /// The sizes of the layer.
    fn dims(&self) -> Dims;

    /// `out = Concat(head_1, …, head_h) W^O + b^O`, for every sequence of the batch.
    ///
    /// # Shapes
    /// `out` is `[n_sequences · n_q, d_model]`; [`Inputs`] gives the others.
    ///
    /// # Errors
    /// What [`Inputs::check`] finds. `out` is then as it was.
    fn forward(&mut self, inputs: &Inputs<'_>, out: &mut Matrix<f32>) -> Result<()>;
}

/// Every rung with these parameters, the slowest first.
pub fn ladder(parameters: &LayerParameters<f32>) -> Vec<Box<dyn Rung>> {
    vec![
        Box::new(Plain::new(parameters)),
        Box::new(OneProduct::new(parameters)),
        Box::new(Tiles::new(parameters)),
        Box::new(VectorExp::new(parameters)),
        Box::new(Threads::new(parameters)),
        Box::new(Packed::new(parameters)),
    ]
}
