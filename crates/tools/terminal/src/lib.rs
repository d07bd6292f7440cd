//! Attention in the terminal: a sentence through a trained layer ([`tour`]), what a layer
//! costs ([`count`]), heads that specialise while you watch ([`train`]), your own layer in
//! every stage ([`attend`]), and what is wrong with it ([`diagnose`]). The questions of `cargo learn predict` are a crate of their own.

pub mod attend;
pub mod count;
pub mod diagnose;
pub mod tour;
pub mod train;
