//! The gradients of a layer, in the form of the layer.

use attention::{Matrix, Real};

/// The gradients of a layer from that of what came out.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerGradients<L, T: Real = f64> {
    /// Of what is learned in it: a layer of the same form.
    pub d_layer: L,
    /// What goes on to the tokens, `[n_tokens, d_in]`.
    pub d_x: Matrix<T>,
}
