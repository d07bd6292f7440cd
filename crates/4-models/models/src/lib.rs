//! Whole models from files: encoders, decoders, and encoder-decoders that translate.
//!
//! | | a token reads | it writes |
//! | --- | --- | --- |
//! | [`encoders`] | every other | nothing |
//! | [`decoders`] | those before it | what comes next |
//! | [`translators`] | a source, and those before it | another text |
//!
//! [`ModelFiles`] are those of any of the three, and [`Model`] is what is read from them: it
//! gives maps ([`Model::maps`]), writes ([`Model::write`]), also without some of its heads
//! ([`Model::ablate`]).
//!
//! Each runs the one [`block::Block`] that the book builds. A family is a table: what it calls
//! its tensors, and what its `config.json` says.

mod ablated;
mod batch;
mod caches;
pub mod decoders;
pub mod encoders;
mod error;
mod files;
mod finite;
mod head;
mod kind;
mod model;
mod reader;
mod table;
#[cfg(test)]
mod tests;
pub mod translators;
mod writing;

pub use ablated::{Attentions, Whole, ablate};
pub use error::{Error, Result};
#[cfg(feature = "text")]
pub use files::text;
pub use files::{Configuration, Files};
pub use finite::{finite, finite_logits};
pub use head::{Head, Part};
pub use kind::{Config, Kind, ModelFiles};
pub use model::{Model, Step, WriteOptions, Writing};
pub use reader::{NormKind, Tensors};
pub use writing::{
    Beam, BeamSearch, Choice, Draft, Generation, Predict, Sampling, Writer,
};
