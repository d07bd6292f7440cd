//! What chapter 8 quotes.

mod gradients;
mod learning;
mod zero;
