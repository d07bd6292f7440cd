//! What every tool stands on: where things are ([`paths`]), a step of set-up run to its end
//! ([`step`]), programs from crates.io ([`tool`]), what need not be made twice ([`stamp`]),
//! what only one process may do at a time ([`lock`]), and what is shown meanwhile
//! ([`progress`]).

pub mod lock;
pub mod paths;
pub mod progress;
pub mod stamp;
pub mod step;
pub mod tool;
