//! What chapter 6 quotes.
