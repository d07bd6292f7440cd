//! Rotary positions, and how they are stretched for longer texts.

use variants::{Pairing, Rotary, YARN_ROUNDS, yarn_ends};

use super::keys::Keys;
use crate::{Error, Result};

/// The tensor that divides each frequency, as Llama 3's longer texts ask for.
pub(super) const FACTORS: &str = "rope_freqs.weight";

/// Rotary positions, stretched as the file says.
///
/// # Source
/// `llama-model.cpp` and `ggml_rope_yarn` of <https://github.com/ggml-org/llama.cpp>; Peng
/// et al. 2023, "YaRN".
pub(super) fn read(
    keys: &Keys,
    pairing: Pairing,
    d_k: usize,
    n_positions: usize,
) -> Result<Rotary> {
    const WIDTH: &str = "rope.dimension_count";
    let n_rotated = keys.positive_or(WIDTH, d_k)?;
    if n_rotated > d_k {
        return Err(keys.wrong(WIDTH, "no more than a head's entries").into());
    }
    let base = keys.float_or("rope.freq_base", 10_000.0)?;
    let rotary = Rotary::new(pairing, n_rotated, base);
    let mut rotary = rotary.map_err(Error::config(keys.file.name()))?;
    if pairing == Pairing::Pairs && keys.file.contains(FACTORS) {
        let factors = keys.file.numbers::<f64>(FACTORS, &[n_rotated / 2])?;
        for (frequency, factor) in rotary.frequencies.iter_mut().zip(factors) {
            *frequency /= factor;
        }
    }
    // The first key had another name.
    let old = keys.factor_or("rope.scale_linear", 1.0)?;
    let factor = keys.factor_or("rope.scaling.factor", old)?;
    rotary.amplitude = keys.float_or("rope.scaling.attn_factor", 1.0)?;
    let before = keys.positive_or("rope.scaling.original_context_length", n_positions)?;
    let betas = [("fast", YARN_ROUNDS[0]), ("slow", YARN_ROUNDS[1])];
    let betas = betas.map(|(name, default)| {
        keys.float_or(&format!("rope.scaling.yarn_beta_{name}"), default)
    });
    let [fast, slow] = betas;
    const KIND: &str = "rope.scaling.type";
    match keys.text(KIND)?.unwrap_or("linear") {
        "none" => {}
        "linear" => rotary = rotary.interpolated(factor)?,
        "yarn" => {
            let (rounds, before) = ([fast?, slow?], before as f64);
            let [first, second] = yarn_ends(base, n_rotated, before, rounds, true);
            // As in `rope_yarn_ramp`, no ramp leads back.
            rotary = rotary.yarn([first, second.max(first + 0.001)], factor)?;
        }
        _ => return Err(keys.wrong(KIND, "\"none\", \"linear\" or \"yarn\"").into()),
    }
    Ok(rotary)
}
