//! What chapter 5 quotes.
