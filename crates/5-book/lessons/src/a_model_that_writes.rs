//! “A model that writes”: a real decoder, SmolLM2-135M-Instruct, and what its heads are for.

pub mod ablated;
pub mod effects;
pub mod next;
pub mod patterns;
pub mod word;

use std::sync::OnceLock;

use crate::Entry;
use crate::kept::kept;
use anyhow::Result;
use models::decoders::study::Findings;

pub(crate) const FIGURES: &[Entry] = &[
    ("copied-word", word::figure),
    ("copying-removed", ablated::copying),
    ("decoder-order", ablated::order),
    ("one-path", effects::one_path),
    ("ended-names", effects::names),
    ("kept-first-tokens", effects::windows),
    ("one-layer-merged", effects::one_layer_merged),
];

/// Layers of the model.
pub const N_LAYERS: usize = 30;
/// Query heads in each.
pub const N_HEADS: usize = 9;
/// Heads of keys and values in each.
pub const N_KV_HEADS: usize = 3;

/// What was measured on the model; read once, since a live figure asks at every move.
///
/// # Errors
/// None; the file is in `decoders`.
pub fn findings() -> Result<&'static Findings> {
    static FINDINGS: OnceLock<Findings> = OnceLock::new();
    kept(&FINDINGS, || Ok(Findings::smollm2()?))
}
