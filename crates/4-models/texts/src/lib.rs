//! A text as ids, and ids as a text: what the tokenizer of a model's folder or of a GGUF
//! file does with it.
//!
//! ```text
//! tokenizer.json and what lies beside it ─▶ Text ─▶ Pieces, whose Sequence a model reads
//! a GGUF file's vocabulary ─▶ gguf_text ──┘
//! ```
//!
//! The one decision: **the library that made the file encodes it.** `tokenizers` does the
//! work; here is decided which parts it is given, as AutoTokenizer of transformers decides
//! it for a folder, and llama.cpp for a GGUF file. Where those two and the file contradict
//! each other, the file is refused.
//!
//! A file is somebody else's: whatever is in it, reading it ends in an [`Error`], and never
//! in a panic.
//!
//! Left out: any model, and a template for conversations. It is a crate of its own since
//! `tokenizers` brings regular expressions and tables that who has ids need not compile.

mod error;
mod gguf;
mod growing;
mod text;

pub use error::{Error, Result};
pub use gguf::gguf_text;
pub use growing::Growing;
pub use text::{Long, Pieces, Text};
