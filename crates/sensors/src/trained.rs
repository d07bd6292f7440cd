//! What comes trained and measured with this crate.

use pretrained::TensorFile;

use crate::{Result, Trained};

/// The trained model as a safetensors file, in half precision: what `cargo run --release --
/// train` in `crates/sensors/framework` wrote.
pub const REMAINING_FILE: &[u8] = include_bytes!("../data/remaining.safetensors");

/// Every variant with five seeds, as `-- seeds` there measured them: JSON, one run per line.
pub const SEEDS: &str = include_str!("../data/seeds.json");

/// The trained model: source 003's architecture, on the engines of [`Fleet`](crate::Fleet)
/// with seed 0.
///
/// # Errors
/// None for the file that comes with the crate.
pub fn remaining() -> Result<Trained> {
    Trained::read(TensorFile::from_bytes("remaining.safetensors", REMAINING_FILE)?)
}
