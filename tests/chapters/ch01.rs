//! What chapter 1 quotes.
