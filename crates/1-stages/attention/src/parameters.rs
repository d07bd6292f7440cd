//! The parameters of a layer, in two layouts.

mod packed;
mod per_head;

pub use packed::PackedParameters;
pub use per_head::{HeadParameters, LayerParameters};
