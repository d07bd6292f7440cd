//! Whole models in the terminal: your own sentence through all heads of a trained model
//! ([`sentence`]), or maps of any framework from a file, and pictures and tables to take away;
//! any model of the families on any ids ([`model`]), and a model that goes on with a text
//! ([`mod@write`]). Trained models are fetched when the reader says so ([`fetch`]).

mod against;
mod cut;
mod either;
pub mod fetch;
mod many;
pub mod model;
mod page;
mod png;
mod prose;
mod report;
mod rows;
pub mod sentence;
mod sizes;
mod source;
mod take;
pub mod texts;
mod translate;
mod view;
mod without;
pub mod write;

#[cfg(test)]
mod tests;
