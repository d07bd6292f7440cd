//! How a rank computes its part.

mod fast;
mod plain;

use attention::{Batch, Gradients, LayerParameters, Mask, Matrix, Real, Result, View};

use crate::Piece;

pub use fast::Fast;
pub use plain::Plain;

/// A layer of some heads on one machine, which can also attend to keys piece by piece.
///
/// What is spread is who computes what; how it is computed is the business of a stage that
/// exists. [`Plain`] takes `fused-heads` and `gradients`, in any precision; [`Fast`] takes
/// `kernels`, in f32.
pub trait Engine<T: Real>: Sized {
    /// How many keys it likes to have at a time.
    const KEYS: usize;

    /// A layer with these parameters, its W^O without a bias.
    fn new(part: &LayerParameters<T>) -> Self;

    /// `Concat(head_1, …) W^O` of these heads.
    ///
    /// # Shapes
    /// Query, key and value; one mask for all sequences, or one a sequence. The result is
    /// `[n_sequences · n_q, d_model]`.
    ///
    /// # Errors
    /// What [`check_batch`](attention::check_batch) finds.
    fn forward(&mut self, inputs: [&Batch<T>; 3], masks: &[Mask]) -> Result<Matrix<T>>;

    /// The gradients of these heads' parameters, and what they add to those of the inputs:
    /// of one input where the three are one.
    ///
    /// # Shapes
    /// `d_out` is `[n_sequences · n_q, d_model]`.
    ///
    /// # Errors
    /// As [`forward`](Self::forward), and for a `d_out` of another shape.
    fn backward(
        &mut self,
        inputs: [&Batch<T>; 3],
        masks: &[Mask],
        d_out: &Matrix<T>,
    ) -> Result<Gradients<T>>;

    /// Queries, keys and values of these heads, `[n, h · d_k]` twice and `[n, h · d_v]`.
    ///
    /// # Errors
    /// A shape that does not fit.
    fn project(&mut self, x: &Matrix<T>) -> Result<[Matrix<T>; 3]>;

    /// The attention of queries to some keys.
    ///
    /// # Shapes
    /// Heads side by side: `q` is `[n_q, h · d_k]`, `k` and `v` have at least one row; the
    /// mask is for `[n_q, n_kv]`.
    ///
    /// # Errors
    /// A shape or a mask that does not fit.
    fn piece(
        &mut self,
        q: &Matrix<T>,
        k: View<'_, T>,
        v: View<'_, T>,
        mask: &Mask,
    ) -> Result<Piece<T>>;

    /// The exponential that the references of its pieces are for.
    fn exp(x: T) -> T;

    /// `concat · W^O`, without b^O.
    ///
    /// # Errors
    /// A shape that does not fit.
    fn mix(&mut self, concat: &Matrix<T>) -> Result<Matrix<T>>;
}

/// Whether query, key and value are one input.
fn is_one<T: Real>([query, key, value]: [&Batch<T>; 3]) -> bool {
    std::ptr::eq(query, key) && std::ptr::eq(query, value)
}
