//! Whole models from files: encoders, decoders, and encoder-decoders that translate.
//!
//! | | a token reads | it writes |
//! | --- | --- | --- |
//! | [`encoders`] | every other | nothing |
//! | [`decoders`] | those before it | what comes next |
//! | [`translators`] | a source, and those before it | another text |
//!
//! Each runs the one [`block::Block`] that the book builds. A family is a table: what it calls
//! its tensors, and what its `config.json` says.

pub mod decoders;
pub mod encoders;
mod error;
mod files;
mod finite;
mod model;
mod reader;
pub mod translators;

pub use error::{Error, Result};
#[cfg(feature = "text")]
pub use files::text;
pub use files::{Configuration, Files};
pub use finite::{finite, finite_logits};
pub use model::{Config, Kind, MapReader, Model};
pub use reader::{NormKind, Tensors};
