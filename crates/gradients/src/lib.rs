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

mod backward;
mod gradients;
mod linear;
mod loss;
mod pass;
mod product;
mod softmax;
#[cfg(test)]
mod tests;

pub use gradients::Gradients;
pub use linear::{LinearGradients, linear_backward};
pub use loss::{Loss, cross_entropy, squared_error};
pub use pass::Pass;
pub use softmax::softmax_rows_backward;
