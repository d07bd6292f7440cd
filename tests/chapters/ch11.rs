//! What chapter 11 quotes: counts, a softmax in blocks, and the reference run.

mod counts;
mod reference;
