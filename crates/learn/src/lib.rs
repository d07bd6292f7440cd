//! The command `cargo learn`: the book, the notebooks, and the trained layer in the
//! terminal. It is the top of the workspace and may use every crate below it.
//!
//! One module a command ([`start`], [`tour`], [`count`], [`train`], [`mod@bench`],
//! [`predict`], [`attend`], [`verify`]), and the three things that they work on: the [`book`], the [`notebooks`]
//! and the exercises ([`practice`]).

pub mod start;
pub mod verify;
