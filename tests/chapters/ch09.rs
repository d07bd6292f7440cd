//! What chapter 9 quotes.

mod gradients;
mod learning;
mod zero;
