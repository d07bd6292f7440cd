//! What every rung of the ladder meets.

use attention::{Dims, Matrix, Result};

use crate::Inputs;

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
