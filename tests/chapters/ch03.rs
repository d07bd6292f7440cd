//! What chapter 3 quotes.
