//! What “The ladder” quotes: counts, a softmax in blocks, the reference run, and bare products.

mod counts;
mod products;
pub mod reference;
