//! What chapter 13 quotes: counts, a softmax in blocks, and the reference run.

mod counts;
mod reference;
