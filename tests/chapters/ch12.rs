//! What chapter 12 quotes.

mod claims;
mod heads;
