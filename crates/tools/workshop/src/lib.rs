//! What every tool stands on: where things are ([`paths`]), a step of set-up run to its end
//! and not done twice ([`step`]), and what is shown meanwhile ([`progress`]).

pub mod paths;
pub mod progress;
pub mod step;
