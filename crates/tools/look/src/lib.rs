//! Whole encoders in the terminal: your own sentence through all heads of a trained model
//! ([`sentence`]), and any model of the family on any ids ([`model`]). The trained model is
//! fetched when the reader says so ([`fetch`]).

pub mod fetch;
pub mod model;
mod page;
mod report;
pub mod sentence;
pub mod texts;
mod view;

#[cfg(test)]
mod tests;
