//! What chapter 10 quotes.
