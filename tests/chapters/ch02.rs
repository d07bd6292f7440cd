//! What chapter 2 quotes.
