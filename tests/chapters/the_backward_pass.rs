//! What chapter 9 quotes.

mod by_hand;
mod gradients;
mod mistakes;
mod zero;
