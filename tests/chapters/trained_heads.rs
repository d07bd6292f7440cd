//! What “Trained heads” quotes.

mod claims;
mod heads;
mod sinks;
mod topic;
