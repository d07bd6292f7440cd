//! How a rank computes its part.

#[cfg(feature = "fast")]
mod fast;
mod plain;

use attention::nalgebra::DMatrixViewMut;
use attention::{
    Batch, Gradients, LayerParameters, Mask, Matrix, Positions, Real, Result, View,
};

#[cfg(feature = "fast")]
pub use fast::Fast;
pub use plain::Plain;

/// A layer of some heads on one machine, which can also attend to keys piece by piece.
///
/// What is spread is who computes what; how it is computed is the business of a stage that
/// exists. [`Plain`] takes `fused-heads` and `gradients`, in any precision; [`Fast`] takes
/// `kernels` and `cached`, in f32.
pub trait Engine<T: Real>: Sized + Send {
    /// Queries, and what they have made of the keys that they have seen so far.
    type Queries: Send;

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

    /// Queries, keys and values of these heads side by side, `[n, h · (2 d_k + d_v)]`, in
    /// `memory`, whatever was in it.
    ///
    /// # Errors
    /// A shape that does not fit.
    fn project(&mut self, x: &Matrix<T>, memory: Vec<T>) -> Result<Matrix<T>>;

    /// Keys and values in the order in which they are sent, and computed with where they
    /// arrive; in `memory`, whatever was in it.
    ///
    /// # Shapes
    /// Those of each sequence, `[n, h · d_k]` and `[n, h · d_v]`, with the same n.
    ///
    /// # Errors
    /// A shape that does not fit.
    fn keys(&self, sequences: &[[View<'_, T>; 2]], memory: Vec<T>) -> Result<Vec<T>>;

    /// How many numbers the keys and values of so many tokens are.
    fn keys_len(&self, n_tokens: usize) -> usize;

    /// Queries that have seen nothing, in the memory of earlier ones.
    ///
    /// # Shapes
    /// `q` is `[n_sequences · n_q, h · d_k]`.
    ///
    /// # Errors
    /// A shape that does not fit.
    fn queries(
        &self,
        n_sequences: usize,
        q: View<'_, T>,
        memory: Option<Self::Queries>,
    ) -> Result<Self::Queries>;

    /// Queries meet some keys, and what they make of them is merged with what they had.
    ///
    /// # Shapes
    /// `keys` are [keys](Self::keys) of as many sequences; one mask for all, or one a
    /// sequence: the whole sequence's, in which `positions` says where these tokens stand.
    ///
    /// # Errors
    /// A shape or a mask that does not fit.
    fn see(
        &mut self,
        queries: &mut Self::Queries,
        keys: &[T],
        masks: &[Mask],
        positions: &Positions,
    ) -> Result<()>;

    /// What they have made of all; zeros for a query that has seen nothing.
    ///
    /// # Shapes
    /// `to` is `[n_sequences · n_q, h · d_v]`.
    fn outputs(queries: &Self::Queries, to: ViewMut<'_, T>);

    /// `concat · W^O`, without b^O.
    ///
    /// # Errors
    /// A shape that does not fit.
    fn mix(&mut self, concat: &Matrix<T>) -> Result<Matrix<T>>;
}

/// A part of a matrix, to be written.
pub type ViewMut<'a, T> = DMatrixViewMut<'a, T>;

/// Whether query, key and value are one input.
pub(crate) fn is_one<T: Real>([query, key, value]: [&Batch<T>; 3]) -> bool {
    std::ptr::eq(query, key) && std::ptr::eq(query, value)
}
