//! Gemma 3: Gemma 2 with a norm of queries and keys in place of the cap on scores, and
//! another rotary base in layers with windows.

use model_files::Settings;

use super::gemma2::GEMMA2;
use super::rotary::rotary_of_layers;
use super::{WINDOW, gemma2, sliding, soft_cap, windows};
use crate::Result;
use crate::decoders::config::Config;
use crate::decoders::family::{Family, Names};

/// # Source
/// Gemma Team 2025; `Gemma3ForCausalLM` of Hugging Face, whose `model_type` is that of the
/// part that reads text.
pub(super) const GEMMA3: Family = Family {
    name: "gemma3_text",
    names: Names {
        qk_norm: Some(["self_attn.q_norm", "self_attn.k_norm"]),
        ..GEMMA2.names
    },
    defaults: &[
        ("num_attention_heads", 8),
        ("num_key_value_heads", 4),
        ("head_dim", 256),
        ("max_position_embeddings", 131_072),
        ("query_pre_attn_scalar", 256),
        ("sliding_window_pattern", 6),
        (WINDOW, 4096),
    ],
    ..GEMMA2
};

pub(super) fn read(settings: &Settings) -> Result<Config> {
    if settings.get("attn_logit_softcapping").is_some() {
        return Err(settings
            .wrong("attn_logit_softcapping", "null: no cap on scores")
            .into());
    }
    let config = gemma2::common(settings)?;
    let pattern = settings.positive("sliding_window_pattern")?;
    let is_sliding =
        sliding(settings, config.n_layers, |layer| (layer + 1) % pattern != 0)?;
    let none = || Settings::read(settings.file(), b"{}");
    let both = match settings.within("rope_parameters")? {
        Some(both) => both,
        None => none()?,
    };
    let of = |key: &str| both.within(key)?.map_or_else(none, Ok);
    let (full, near) = (of("full_attention")?, of("sliding_attention")?);
    let d_k = config.dims().d_k();
    // What is added by hand is for the layers without windows.
    let added = settings.within("rope_scaling")?;
    let places = [(&full, "rope_theta"), (settings, "rope_theta")];
    let rotary = match &added {
        None => rotary_of_layers(&full, settings, (&places, 1e6), d_k)?,
        Some(added) => {
            full.refuse_unless(
                "rope_type",
                "default",
                "\"default\" beside rope_scaling",
            )?;
            let places = [&[(added, "rope_theta")], &places[..]].concat();
            rotary_of_layers(added, settings, (&places, 1e6), d_k)?
        }
    };
    let places = [(&near, "rope_theta"), (settings, "rope_local_base_freq")];
    let rotary_in_windows = rotary_of_layers(&near, settings, (&places, 1e4), d_k)?;
    Ok(Config {
        family: &GEMMA3,
        rotary: Some(rotary),
        rotary_in_windows: Some(rotary_in_windows),
        last_soft_cap: soft_cap(settings, "final_logit_softcapping", None)?,
        windows: windows(settings, is_sliding)?,
        ..config
    })
}
