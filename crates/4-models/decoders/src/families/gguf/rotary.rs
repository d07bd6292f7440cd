//! Rotary positions, and how they are stretched for longer texts.

use variants::{Pairing, Rotary};

use super::keys::Keys;
use crate::Result;
use crate::families::rotary::Yarn;
use crate::families::within;

/// The tensor that divides each frequency, as Llama 3's longer texts ask for.
pub(super) const FACTORS: &str = "rope_freqs.weight";

/// Rotary positions, stretched as the file says.
///
/// # Errors
/// [`model_files::GgufError::Setting`] for a way of stretching that is not here;
/// [`Error::Config`](crate::Error::Config) for sizes that cannot be rotated.
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
    let mut rotary = rotary.map_err(within(keys.file.name()))?;
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
    let betas = [("fast", 32.0), ("slow", 1.0)];
    let betas = betas.map(|(name, default)| {
        keys.float_or(&format!("rope.scaling.yarn_beta_{name}"), default)
    });
    let [fast, slow] = betas;
    const KIND: &str = "rope.scaling.type";
    match keys.text(KIND)?.unwrap_or("linear") {
        "none" => {}
        "linear" => rotary.frequencies.iter_mut().for_each(|f| *f /= factor),
        "yarn" => {
            let yarn = Yarn { n_rotated, base, before: before as f64, factor };
            let (low, high) = (yarn.pair(fast?).floor(), yarn.pair(slow?).ceil());
            let (low, high) = yarn.within([low, high]);
            yarn.stretch(&mut rotary.frequencies, [low, high.max(low + 0.001)]);
            rotary.amplitude *= 1.0 + 0.1 * factor.max(1.0).ln();
        }
        _ => return Err(keys.wrong(KIND, "\"none\", \"linear\" or \"yarn\"").into()),
    }
    Ok(rotary)
}
