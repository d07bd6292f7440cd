//! Attention in the terminal: a sentence through a trained layer ([`tour`]), what a layer
//! costs ([`count`]), and your own layer in every stage ([`attend`]).
//!
//! These need the first chapters' crates alone, and are there soon after the book; what trains,
//! diagnoses and asks are programs of their own.

pub mod attend;
pub mod count;
pub mod tour;
