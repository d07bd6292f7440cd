//! What others trained, as files have it: settings, weights and ids of any model, and a
//! layer that comes with this workspace.
//!
//! A trained layer differs from a random one in its numbers alone. So this crate computes
//! no attention: it turns files into [`attention::LayerParameters`], which every stage
//! takes.
//!
//! - [`minilm`] is the last attention layer of a small sentence model, embedded here, with
//!   four sentences: what goes in, and what PyTorch says comes out.
//! - [`read_layer`] reads a layer of a [`TensorFile`](tensors::TensorFile), under the names
//!   that PyTorch's `nn.MultiheadAttention` or BERT give its tensors.
//! - [`Gguf`] reads the tensors and settings of a GGUF file, whose numbers may be of 4 to 8
//!   bits; what it says of its model is used, or known to be harmless, or refused.
//! - [`settings_in`] and [`weights_in`] open a folder as `save_pretrained` writes it.
//! - [`Sequence`] is a text as ids.
//! - [`key_padding_masks`] and [`attn_masks`] read PyTorch's masks, in which True blocks.
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
//! The one rule: **known or refused.** What is in a file is used, or it is known to be
//! harmless, or the file is refused by its name: each name has a [`Use`].
//!
//! Left out: safetensors themselves, which `tensors` reads; which model the tensors make, which
//! `encoders` and `decoders` say; and how a text becomes ids, which is for `texts`.

mod error;
mod folder;
mod gguf;
mod known;
mod loader;
mod masks;
mod minilm;
mod projected;
mod sequences;
mod settings;
mod shown;
mod small;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod wrappers;

pub use error::{Error, Result};
pub use folder::{settings_in, weight_files, weights_in};
pub use gguf::{Gguf, GgufError, GgufResult, Info, Kind, Levels, Value};
pub use known::{
    Claim, Fact, Rule, Unused, Use, expect_known, expect_layers, expect_metadata,
    expect_settings, first_rule, harmless, refuse_packed, refuse_unread, rules,
};
pub use loader::{
    FoundLayer, Naming, beside_layer, beside_metadata, find_layer, layers_in, read_layer,
};
pub use masks::{MaskSizes, attn_masks, key_padding_masks};
pub use minilm::{MINILM_FILE, SENTENCES, Sentence, TrainedLayer, minilm};
pub use projected::{PROJECTED_FILE, ProjectedSentence, projected};
pub use sequences::Sequence;
pub use settings::Settings;
pub use shown::{MOST_SHOWN, is_shown, shown};
pub use small::{SmallFiles, read_text};
pub use wrappers::without_wrappers;
