//! The book's live figures, as a module that runs in its pages.
//!
//! ```text
//! live.js ──▶ live-worker.js ──▶ this module ──▶ gallery
//!   controls    a thread           bytes in,       the figures
//!   address                        bytes out
//! ```
//!
//! There is no algorithm here: a request comes as bytes (a name, and settings as JSON) and
//! an answer leaves as bytes (a figure, its words and facts as JSON, or an error's
//! words). The one decision: **the page computes nothing and this crate draws nothing**.
//! What a reader sees is what [`lessons::gallery`] gives natively for the same settings.
//!
//! The calls follow [wasm-minimal-protocol](https://docs.rs/wasm-minimal-protocol), which
//! needs two functions of its host and no generated code. Each gives what it returns, or
//! the words of its error.

#[cfg(target_arch = "wasm32")]
mod module;
#[cfg(any(target_arch = "wasm32", test))]
mod request;
