//! The machinery of the last rung: everything is packed in panels of 48 tokens.

pub(crate) mod attend;
pub(crate) mod backward;
pub(crate) mod blocks;
pub(crate) mod careful;
pub(crate) mod few;
pub(crate) mod forward;
mod groups;
pub(crate) mod layer;
pub(crate) mod maps;
pub(crate) mod memory;
pub(crate) mod merge;
pub(crate) mod panels;
pub(crate) mod product;
pub(crate) mod project;
pub(crate) mod running;
pub(crate) mod units;
pub(crate) mod weights;
