//! What today's changes to the formula do to a training.
//!
//! Two questions that need one: what heads lose that share their keys and values, and how
//! far beyond the texts of its training each kind of position carries a model.
//!
//! [`ChangedPass`] goes forward and backward through a [`VariantAttention`]; [`Reader`] names
//! the words of [`Lookups`](crate::Lookups) with it, [`Follower`] says what comes next in
//! [`Repeats`](crate::Repeats), and [`learn`] trains either.
//!
//! [`VariantAttention`]: variants::VariantAttention

mod follower;
mod learn;
mod pass;
mod reader;
#[cfg(test)]
mod tests;

pub use follower::{Follower, FollowerPlan, Place};
pub use learn::{Learned, Learner, learn};
pub use pass::{ChangedGradients, ChangedPass};
pub use reader::Reader;
