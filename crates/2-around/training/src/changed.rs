//! What today's changes to the formula do to a training.
//!
//! Two questions that need one: what heads lose that share their keys and values, and how
//! far beyond the texts of its training each kind of position carries a model.
//!
//! With the backward pass of [`variants`], [`Reader`] names the words of
//! [`Lookups`](crate::lookups::Lookups), and [`Follower`] says what comes next in
//! [`Repeats`](crate::repeats::Repeats).

mod follower;
mod reader;
#[cfg(test)]
mod tests;

pub use follower::{Follower, FollowerPlan, Place, Stretch};
pub use reader::Reader;

/// The lookups with narrow heads that share keys and values, at equal numbers of weights and
/// at equal widths, on ten seeds, as `seeds -- shared` measured them.
pub const SHARED: &str = include_str!("../data/shared.json");

/// Repeated tokens on texts longer than those of the training, with four kinds of position and
/// none, on ten seeds, as `seeds -- places` measured them.
pub const PLACES: &str = include_str!("../data/places.json");

/// The models of [`PLACES`] with rotary positions on longer texts, their positions stretched,
/// as `seeds -- stretched` measured them.
pub const STRETCHED: &str = include_str!("../data/stretched.json");
