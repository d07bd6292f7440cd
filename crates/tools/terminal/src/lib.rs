//! Attention in the terminal: a sentence through a trained layer ([`tour`]), what a layer
//! costs ([`count`]), heads that specialise while you watch ([`train`]), questions to answer
//! before you look ([`predict`]), and your own layer in every stage ([`attend`]).

pub mod attend;
pub mod count;
pub mod predict;
pub mod tour;
pub mod train;
