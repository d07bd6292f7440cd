//! What `figures` uses of the crate plotly, under the same names, and nothing in it but the
//! value that plotly.js reads.
//!
//! In a page's module, plotly brings wasm-bindgen, js-sys, web-sys, templates and their
//! macros: two fifths of all that is compiled for it, and of its size.
//! Everywhere else figures are described with plotly, whose types say what may be set.
//!
//! A test here holds each name against plotly's; another (`tests/pages`) every live figure.

#[macro_use]
mod object;

pub mod common;
pub mod layout;
mod traces;

pub use traces::{Bar, HeatMap, Scatter};

#[cfg(test)]
mod tests;
