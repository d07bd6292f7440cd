//! What “The block” quotes.

mod agree;
mod cost;
mod depth;
mod order;
mod slips;
