//! What chapter 12 quotes.

mod claims;
mod heads;
mod sinks;
mod topic;
mod transposed;
