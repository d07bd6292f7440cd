//! The backward pass of multi-head attention by hand, matrix by matrix.
//!
//! Training asks of every parameter: if you grew a little, how would the error change?
//! That number is the parameter's gradient. The chain rule finds all of them in one walk
//! through the layer from its end to its beginning. Write `d_m` for the gradient of the
//! error with respect to the matrix `m`: it has the shape of `m`. Each line of the
//! forward pass has one or two lines that take the gradient of what it gave to the
//! gradients of what it took:
//!
//! ```text
//! forward                            backward
//! out = concat W^O + b^O             d_W^O = concatᵀ d_out    d_b^O = Σ_t d_out_t
//!                                    d_concat = d_out W^Oᵀ
//! concat = [head_1 | … | head_h]     d_head_i = the columns i of d_concat
//! head_i = A_i V_i                   d_V_i = A_iᵀ d_head_i    d_A_i = d_head_i V_iᵀ
//! A_i = softmax(S_i + mask)          d_S = A ⊙ (d_A − rowsum(A ⊙ d_A))
//! S_i = Q_i K_iᵀ / √d_k              d_Q_i = d_S K_i / √d_k   d_K_i = d_Sᵀ Q_i / √d_k
//! Q = query W^Q + b^Q                d_W^Q = queryᵀ d_Q       d_b^Q = Σ_t d_Q_t
//!                                    d_query = d_Q W^Qᵀ       (K and V likewise)
//! ```
//!
//! [`LayerPass::forward`] is the fused layer's forward pass, which keeps what the backward pass
//! needs, and [`LayerPass::backward`] goes back through it and gives [`Gradients`]. Their pieces
//! stand alone where a reader or another layer can use them: [`linear_backward`],
//! [`softmax_rows_backward`], the two losses [`cross_entropy`] and [`mean_squared_error`],
//! and the two optimisers that turn gradients into steps, [`Sgd`] and [`Adam`]. Together
//! they are all that training is:
//!
//! ```
//! use attention::{Dims, LayerParameters, Linear, Mask, Matrix, Rng, SeedableRng};
//! use fused_heads::FusedAttention;
//! use gradients::{Adam, Optimiser, LayerPass, cross_entropy, linear_backward};
//!
//! let rng = &mut Rng::seed_from_u64(1);
//! let parameters = LayerParameters::random(Dims::new(8, 2)?, true, rng);
//! let mut layer = FusedAttention::new(&parameters);
//! let mut readout = Linear::random(8, 3, true, rng);
//! let x: Matrix = attention::random_matrix(5, 8, 1.0, rng);
//! let classes = [0, 2, 1, 1, 0]; // what the layer should say of each token
//!
//! let (mut of_layer, mut of_readout) = (Adam::new(0.01), Adam::new(0.01));
//! let mut losses = Vec::new();
//! for _ in 0..100 {
//!     let pass = LayerPass::self_attend(&layer, &x, &Mask::None)?;
//!     let logits = readout.forward(pass.out())?; // [5, 3]
//!     let loss = cross_entropy(&logits, &classes)?;
//!
//!     let d = linear_backward(&readout, pass.out(), &loss.gradient)?;
//!     let gradients = pass.backward(&d.d_x)?;
//!     of_layer.step_layer(&mut layer, &gradients)?;
//!     of_readout.step(&mut [&mut readout], &[&d.d_linear])?;
//!     losses.push(loss.value);
//! }
//! assert!(losses[99] < 0.05 * losses[0]);
//! # Ok::<(), attention::Error>(())
//! ```
//!
//! The one decision: **a pass borrows the layer and the inputs that it was made of.** The
//! backward pass needs the very parameters of the forward pass, and while a pass lives
//! nobody can change them.
//!
//! A layer and its gradient are walked alike: the gradient of a struct has the struct's own
//! type wherever that can be ([`LayerGradients`]), and [`Entries`] are the numbers of either.
//!
//! A second one follows from masks: **0 times anything is 0 in the backward pass**, also NaN.
//! A blocked key was not read, and an output that the loss ignores asks for nothing, so a
//! NaN in padding stays where it is.
//!
//! Left out: automatic differentiation (nothing here records operations, every line is
//! written out), gradients of masks, threads.

mod backward;
mod entries;
mod layer;
mod linear;
mod loss;
mod optimiser;
mod pass;
mod product;
mod softmax;
#[cfg(test)]
mod tests;

pub use attention::{Gradients, InputGradients};
pub use backward::attend_backward;
pub use entries::Entries;
pub use layer::LayerGradients;
pub use linear::{LinearGradients, linear_backward};
pub use loss::{Loss, cross_entropy, mean_squared_error};
pub use optimiser::{Adam, Optimiser, Sgd, clip_norm};
pub use pass::LayerPass;
pub use softmax::softmax_rows_backward;
