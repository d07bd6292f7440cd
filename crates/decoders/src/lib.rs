//! Whole decoders.

mod error;
mod gguf;
#[cfg(feature = "text")]
mod vocabulary;

pub use error::{Error, Result};
pub use gguf::{Gguf, GgufError, GgufResult, Info, Kind, Value};
#[cfg(feature = "text")]
pub use vocabulary::gguf_text;
