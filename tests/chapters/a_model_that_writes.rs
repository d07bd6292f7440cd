//! What chapter 18 quotes: a real decoder, counted and asked.

mod count;
mod found;
mod model;
