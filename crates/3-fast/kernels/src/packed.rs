//! The machinery of the last rung: everything is packed in panels of 48 tokens, and the parts
//! of `tiles` are put together to a layer.

pub(crate) mod backward;
pub(crate) mod forward;
pub(crate) mod layer;
pub(crate) mod maps;
pub(crate) mod project;
pub(crate) mod weights;
