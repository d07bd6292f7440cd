//! What “A model that writes” quotes: a real decoder, counted and asked.

mod count;
mod found;
mod model;
