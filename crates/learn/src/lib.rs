//! The command `cargo learn`: the book, the notebooks, and the trained layer in the
//! terminal. It is the top of the workspace and may use every crate below it.
//!
//! One module a command ([`start`], [`tour`], [`count`], [`train`], [`mod@bench`],
//! [`predict`], [`attend`], [`verify`]), and the three things that they work on: the [`book`], the [`notebooks`]
//! and the exercises ([`practice`]).

pub mod attend;
pub mod bench;
pub mod book;
pub mod count;
pub mod gallery;
pub mod notebooks;
pub mod output;
pub mod paths;
pub mod practice;
pub mod predict;
pub mod progress;
pub mod stages;
pub mod start;
mod step;
pub mod tour;
pub mod train;
pub mod verify;
mod whole;
