//! What today's changes to the formula do to a training.
//!
//! Two questions that need one: what heads lose that share their keys and values, and how
//! far beyond the texts of its training each kind of position carries a model.
//!
//! With the backward pass of [`variants`], [`Reader`] names the words of
//! [`Lookups`](crate::Lookups), and [`Follower`] says what comes next in
//! [`Repeats`](crate::Repeats).

mod follower;
mod reader;
mod stretch;
#[cfg(test)]
mod tests;

pub use follower::{Follower, FollowerPlan, Place};
pub use reader::Reader;
pub use stretch::Stretch;
