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
//! no stage need know of it: [`ablated_layer`].
//!
//! How far maps move is [`moved`]; a number beside those of its draws, and a count beside the
//! chance that it has by itself, are in [`odds`].
//!
//! Left out: the models. What a model loses is measured where the model is, in `training`,
//! `sensors`, `encoders` and `decoders`.

mod directions;
mod draws;
mod moved;
pub mod odds;
mod replacement;
mod site;
#[cfg(test)]
mod tests;

pub use directions::{Directions, ablated_layer, ablated_output, orthonormal};
pub use draws::{Draws, HeadOfLayer, drawn_alike, drawn_from, others_of_same_layers};
pub use moved::{later, later_moved, moved, total_variation};
pub use replacement::Replacement;
pub use site::Site;
