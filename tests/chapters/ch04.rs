//! What chapter 4 quotes.
