//! One head of attention, twice: token by token, and in matrices.
//!
//! ```text
//! head = softmax(Q Kᵀ / √d_k) V      Q = query W^Q + b^Q,  K = key W^K + b^K,
//!                                    V = value W^V + b^V
//! ```
//!
//! [`attend_in_loops`] is the definition: for one query after the other, score every key,
//! turn the scores into weights, average the values. It uses no matrix product, so that
//! everything else in the workspace can be compared with it. [`attend`] is the same head
//! as six lines of matrices, which is how it is always written.
//!
//! The one decision: both return a [`HeadPass`], which keeps **every** intermediate
//! matrix. A reader can look at the scores, and a test can say where two ways of
//! computing part.
//!
//! Left out: several heads (`per-head`) and speed.

mod loops;
mod matrices;
mod pass;
#[cfg(test)]
mod tests;

pub use loops::attend_in_loops;
pub use matrices::attend;
pub use pass::HeadPass;
