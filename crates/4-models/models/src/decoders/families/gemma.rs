//! The Gemmas: Llama with norms before and after each layer, and windows in some.

use block::Activation;
use model_files::Settings;
use serde_json::Value;

use super::rotary::{rotary, rotary_of_layers};
use super::{llama, sliding, soft_cap, windows};
use crate::Result;
use crate::decoders::config::{Biases, Config};
use crate::decoders::family::Family;
use crate::files::activation;

/// The bound of scores.
const CAP: &str = "attn_logit_softcapping";

/// With soft caps, and a window in every other layer.
pub(super) fn gemma2(settings: &Settings, family: &'static Family) -> Result<Config> {
    let config = common(settings, family)?;
    let is_sliding = sliding(settings, config.n_layers, |layer| layer % 2 == 0)?;
    Ok(Config {
        rotary: Some(rotary(settings, config.dims().d_k(), None)?),
        soft_cap: soft_cap(settings, CAP, Some(50.0))?,
        last_soft_cap: soft_cap(settings, "final_logit_softcapping", Some(30.0))?,
        windows: windows(settings, is_sliding)?,
        ..config
    })
}

/// Gemma 2 with a norm of queries and keys in place of the cap on scores, and another rotary base
/// in layers with windows.
pub(super) fn gemma3(settings: &Settings, family: &'static Family) -> Result<Config> {
    settings.refuse_unless(CAP, Value::Null, "null: no cap on scores")?;
    let config = common(settings, family)?;
    let pattern = settings.positive("sliding_window_pattern")?;
    let is_sliding =
        sliding(settings, config.n_layers, |layer| (layer + 1) % pattern != 0)?;
    let none = || Settings::read(settings.file(), b"{}");
    let both = settings.within("rope_parameters")?.map_or_else(none, Ok)?;
    let of = |key: &str| both.within(key)?.map_or_else(none, Ok);
    let (full, near) = (of("full_attention")?, of("sliding_attention")?);
    let d_k = config.dims().d_k();
    // What is added by hand is for the layers without windows.
    let added = settings.within("rope_scaling")?;
    let places = [(&full, "rope_theta"), (settings, "rope_theta")];
    let rotary = match &added {
        None => rotary_of_layers(&full, settings, (&places, 1e6), d_k)?,
        Some(added) => {
            let expected = "\"default\" beside rope_scaling";
            full.refuse_unless("rope_type", "default", expected)?;
            let places = [&[(added, "rope_theta")], &places[..]].concat();
            rotary_of_layers(added, settings, (&places, 1e6), d_k)?
        }
    };
    let places = [(&near, "rope_theta"), (settings, "rope_local_base_freq")];
    let rotary_in_windows = rotary_of_layers(&near, settings, (&places, 1e4), d_k)?;
    Ok(Config {
        rotary: Some(rotary),
        rotary_in_windows: Some(rotary_in_windows),
        last_soft_cap: soft_cap(settings, "final_logit_softcapping", None)?,
        windows: windows(settings, is_sliding)?,
        ..config
    })
}

/// What Gemma 2 and 3 have alike.
fn common(settings: &Settings, family: &'static Family) -> Result<Config> {
    settings.refuse_unless("use_bidirectional_attention", false, "false")?;
    let config = llama::common(settings, family)?;
    let activation = match settings.get("hidden_activation") {
        None => Activation::GeluTanh,
        Some(_) => activation(settings, "hidden_activation", Activation::GeluTanh)?,
    };
    const SCALAR: &str = "query_pre_attn_scalar";
    let d_k = settings.above_0(SCALAR)?;
    let d_k = d_k.ok_or_else(|| settings.wrong(SCALAR, "a number above 0"))?;
    Ok(Config {
        activation,
        scale: Some(1.0 / d_k.sqrt()),
        embedding_scale: (config.dims().d_model() as f64).sqrt(),
        biases: Biases { feed_forward: false, ..config.biases },
        tied: settings.flag("tie_word_embeddings", true)?,
        ..config
    })
}
