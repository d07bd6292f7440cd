//! What “The backward pass” quotes.

mod by_hand;
mod gradients;
mod mistakes;
mod zero;
