//! Ablation: heads, or any other directions of a concatenation, replaced by something that
//! knows nothing of the example, to see what a model needs them for.
//!
//! ```text
//! concat ──▶ concat − taken ──▶ W^O ──▶ …      on a concatenation that was kept: Site
//! concat ──▶ (I − D Dᵀ) W^O, b^O + m Dᵀ W^O    in the weights, for a constant m
//! ```
//!
//! A head is d_v [`Directions`] of the concatenation, those along its columns. The control
//! is d_v others, drawn at random, which take as much away: [`Site::control`]. Where many heads
//! of a whole model go at once, it is other heads of the same layers: [`drawn_alike`], and sets
//! of which no two are alike, [`Draws`]. What is
//! put in their stead is a [`Replacement`]. In the weights it can only be a constant, but there
//! no stage need know of it: [`layer_without`].
//!
//! What a model loses is measured where the model is: [`Ablation`] for a [`Model`], a
//! [`StackAblation`](crate::StackAblation) for a [`Predictor`](crate::Predictor), and the
//! studies of `encoders`, `decoders` and `sensors`.
//!
//! [`Model`]: crate::Model

mod alike;
mod directions;
mod draws;
mod moved;
mod replacement;
mod scores;
mod site;
#[cfg(test)]
mod tests;
mod weights;

pub use alike::{HeadOfLayer, drawn_alike, drawn_from};
pub use directions::Directions;
pub use draws::{Draws, others_of_same_layers};
pub use moved::{later, later_moved, moved, total_variation};
pub use replacement::Replacement;
pub use scores::{Ablation, Control, strongest};
pub use site::Site;
pub use weights::{layer_without, output_without};
