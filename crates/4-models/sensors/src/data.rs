//! Readings of engines until they fail: files, a generator, windows.

mod engine;
mod files;
mod fleet;
mod prepared;
mod scale;
mod text;
mod windows;

#[cfg(test)]
mod tests;

pub use engine::{Engine, Reading};
pub use files::Readings;
pub use fleet::{Fleet, GROUPS, SimulatedEngine, Truth};
pub use prepared::{Prepared, split};
pub use scale::Scale;
pub use text::{parse_engines, parse_lives, write_engines};
pub use windows::{At, Windows};
