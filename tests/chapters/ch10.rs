//! What chapter 10 quotes.

mod claims;
mod heads;
