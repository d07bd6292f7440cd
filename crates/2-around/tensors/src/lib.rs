//! Tensors in files: safetensors, read and written, and nothing else.
//!
//! ```text
//! 8 bytes  ──▶ the header's length ──▶ a header in JSON: names, kinds, shapes, places
//!                                        │
//! TensorFile::tensor("w") ──▶ Tensor ◀───┘   its numbers are read when they are asked for
//! ```
//!
//! [`TensorFile`] reads any tensor of such a file, of floats, integers or flags, and weights in
//! few bits ([`in_bits`]) as floats; [`save`] and [`to_bytes`] write some.
//!
//! The one decision: **a size is compared before it is believed.** A file is somebody else's:
//! what its header announces is compared with the bytes that there are before anything is
//! allocated. Whatever is in it, reading it ends in an [`Error`] that names the numbers, and
//! never in a panic.
//!
//! Left out: what the tensors mean, which is for `model-files`, and so are GGUF files.

mod copy;
mod error;
mod few_bits;
mod file;
mod header;
mod numbers;
pub mod plain;
mod save;
mod words;

pub use copy::in_bits;
pub use error::{Error, Result};
pub use few_bits::Bits;
pub use file::{Tensor, TensorFile};
pub use numbers::half;
pub use save::{
    Existing, NewTensor, Stored, check_output, save, to_bytes, to_bytes_with,
};
pub use words::{name_text, names_text};
