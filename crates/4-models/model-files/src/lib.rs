//! Trained weights: a layer that comes with this workspace, and a reader of others.
//!
//! A trained layer differs from a random one in its numbers alone. So this crate computes
//! no attention: it turns files into [`attention::LayerParameters`], which every stage
//! takes.
//!
//! - [`minilm`] is the last attention layer of a small sentence model, embedded here, with
//!   four sentences: what goes in, and what PyTorch says comes out.
//! - [`load_layer`] reads a layer from a safetensors file, under the names that PyTorch's
//!   `nn.MultiheadAttention` or BERT give its tensors.
//! - [`key_padding_masks`] and [`attn_masks`] read PyTorch's masks, in which True blocks.
//! - [`TensorFile`] reads any tensor, of floats, integers or flags; [`save`] writes some.
//!
//! The one decision: **weights are turned once, here.** Files store W as `[out, in]` and
//! compute `x · Wᵀ + b`; this workspace stores `[in, out]`, as the paper writes it. The
//! turning costs nothing: a file lays W out row after row, nalgebra column after column,
//! so `[out, in]` in the file *is* `[in, out]` in memory, byte for byte. What must not be
//! forgotten is to swap the two sizes, and when W is square nothing would say so.
//!
//! A file is somebody else's: whatever is in it, reading it ends in an [`Error`] that
//! names the numbers, and never in a panic.
//!
//! Left out: other formats, tensors on other devices, quantised weights.

mod error;
mod header;
mod loader;
mod masks;
mod minilm;
mod numbers;
mod save;
mod tensors;

pub use error::{Error, Result};
pub use loader::{FoundLayer, Naming, load_layer};
pub use masks::{MaskSizes, attn_masks, key_padding_masks};
pub use minilm::{MINILM_FILE, SENTENCES, Sentence, TrainedLayer, minilm};
pub use numbers::half;
pub use save::{
    Existing, NewTensor, Stored, check_destination, check_output, save, to_bytes,
};
pub use tensors::{Tensor, TensorFile};
