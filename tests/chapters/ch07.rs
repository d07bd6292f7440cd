//! What chapter 7 quotes.
