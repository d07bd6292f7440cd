//! Rotary positions from a `config.json`, and how they are stretched for longer texts.

use std::f64::consts::TAU;

use model_files::Settings;
use variants::{Pairing, Rotary, YARN_ROUNDS, yarn_amplitude, yarn_ends};

use crate::Result;

/// The widest head of which frequencies are made before a file of weights could say
/// otherwise.
const WIDEST: usize = 1 << 20;

/// Where a base is looked for, and what it is where nothing says it.
type Places<'a> = (&'a [(&'a Settings, &'a str)], f64);

/// Rotary positions of a family that rotates the same in all layers, under the names of
/// transformers 5 (`rope_parameters`) and 4. `share` of each head is rotated; `None` for a
/// family that rotates whole heads.
///
/// # Source
/// `convert_rope_params_to_dict` of transformers 5: `rope_scaling` replaces
/// `rope_parameters`. Differs: where two keys contradict each other, both are refused.
pub(super) fn rotary(
    settings: &Settings,
    d_k: usize,
    share: Option<f64>,
) -> Result<Rotary> {
    let none = Settings::read(settings.file(), b"{}")?;
    let added = settings.within("rope_scaling")?.filter(|added| !added.is_empty());
    let replaced = settings.get("rope_parameters");
    let replaced =
        replaced.filter(|_| added.is_some()).and_then(|rope| rope.get("rope_theta"));
    let rope = match added {
        Some(added) => added,
        None => settings.within("rope_parameters")?.unwrap_or(none),
    };
    let places =
        [(&rope, "rope_theta"), (settings, "rope_theta"), (settings, "rotary_emb_base")];
    let base = agreed(&places, 10_000.0)?;
    if replaced.is_some_and(|replaced| replaced.as_f64() != Some(base)) {
        let expected = "what keeps the base: it replaces rope_parameters, which has another \
                        rope_theta";
        return Err(settings.wrong("rope_scaling", expected).into());
    }
    const SHARE: &str = "partial_rotary_factor";
    let places = [(&rope, SHARE), (settings, SHARE), (settings, "rotary_pct")];
    let found = agreed(&places, share.unwrap_or(1.0))?;
    // As in transformers: of an odd number, the last pair rotates an entry more.
    let n_rotated = (d_k as f64 * found) as usize;
    let is_whole = share.is_none() && n_rotated != d_k;
    if d_k > WIDEST {
        let expected = "what makes heads of a width that a model can have";
        let key =
            if settings.is_missing("head_dim") { "hidden_size" } else { "head_dim" };
        return Err(settings.wrong(key, expected).into());
    }
    // Of a huge share, the next even number would be none.
    let fits = (1..=d_k).contains(&n_rotated) && n_rotated.next_multiple_of(2) <= d_k;
    if !fits || is_whole {
        let (of, key, _) = first_number(&places)?.unwrap_or((settings, "head_dim", 0.0));
        let expected = match share {
            None if key == "head_dim" => "an even number, of which all are rotated",
            None => "1: whole heads of an even number of entries are rotated",
            Some(_) => "a share of a head that is two entries or more, and not all",
        };
        return Err(of.wrong(key, expected).into());
    }
    stretched(&rope, settings, base, n_rotated)
}

/// Rotary positions of one kind of layer, whose object is `rope`.
pub(super) fn rotary_of_layers(
    rope: &Settings,
    all: &Settings,
    (places, default): Places<'_>,
    d_k: usize,
) -> Result<Rotary> {
    let base = agreed(places, default)?;
    if d_k > WIDEST || !d_k.is_multiple_of(2) {
        return Err(all.wrong("head_dim", "an even number that a head can have").into());
    }
    stretched(rope, all, base, d_k)
}

/// The first of these places that has a number.
fn first_number<'a>(
    places: &[(&'a Settings, &'a str)],
) -> Result<Option<(&'a Settings, &'a str, f64)>> {
    for &(settings, key) in places {
        if let Some(number) = settings.above_0(key)? {
            return Ok(Some((settings, key, number)));
        }
    }
    Ok(None)
}

/// The number that all say who say one.
fn agreed(places: &[(&Settings, &str)], default: f64) -> Result<f64> {
    let first = first_number(places)?.map_or(default, |(_, _, number)| number);
    for (settings, key) in places {
        if settings.above_0(key)?.is_some_and(|number| number != first) {
            return Err(settings.wrong(key, "what another key says of the same").into());
        }
    }
    Ok(first)
}

/// The frequencies, for texts longer than those of the training.
///
/// # Source
/// Chen et al. 2023 (linear); Llama Team 2024 (llama3); Peng et al. 2023 (yarn); each as
/// transformers 5 computes it. The dynamic kind changes nothing within the model's
/// positions, and longer texts are not read here.
fn stretched(
    rope: &Settings,
    all: &Settings,
    base: f64,
    n_rotated: usize,
) -> Result<Rotary> {
    let exponent = |p: usize| -2.0 * p as f64 / n_rotated as f64;
    let frequencies = (0..n_rotated.div_ceil(2)).map(|p| base.powf(exponent(p)));
    let frequencies: Vec<f64> = frequencies.collect();
    let of = |frequencies| Rotary { frequencies, ..Rotary::still(Pairing::Halves) };
    Ok(match kind(rope)?.as_str() {
        "default" => of(frequencies),
        "dynamic" => {
            needed(rope, "factor")?;
            rope.get("original_max_position_embeddings");
            of(frequencies)
        }
        "linear" => of(frequencies).interpolated(needed(rope, "factor")?)?,
        "llama3" => {
            let stretch = llama3(rope, all)?;
            of(frequencies.into_iter().map(stretch).collect())
        }
        "yarn" => yarn(rope, all, base, n_rotated, of(frequencies))?,
        _ => {
            let expected = "\"default\", \"linear\", \"dynamic\", \"llama3\" or \"yarn\"";
            return Err(rope.wrong(name_of_kind(rope), expected).into());
        }
    })
}

fn name_of_kind(rope: &Settings) -> &'static str {
    if rope.get("rope_type").is_some() { "rope_type" } else { "type" }
}

/// Which kind, under its new name and its old.
fn kind(rope: &Settings) -> Result<String> {
    let [new, old] = ["rope_type", "type"].map(|key| rope.get(key));
    if let (Some(new), Some(old)) = (new, old)
        && new != old
    {
        return Err(rope.wrong("type", "what rope_type says").into());
    }
    match new.or(old) {
        None => Ok("default".into()),
        Some(kind) => Ok(kind.as_str().unwrap_or_default().into()),
    }
}

fn needed(rope: &Settings, key: &str) -> Result<f64> {
    Ok(rope.above_0(key)?.ok_or_else(|| rope.wrong(key, "a number above 0"))?)
}

/// How many positions there were in the training.
fn before(rope: &Settings, all: &Settings) -> Result<f64> {
    const KEY: &str = "original_max_position_embeddings";
    let max = all.positive("max_position_embeddings")? as f64;
    agreed(&[(all, KEY), (rope, KEY)], max)
}

/// What rounds often within the old texts stays, what rounds less than once is slowed.
fn llama3(rope: &Settings, all: &Settings) -> Result<impl Fn(f64) -> f64> {
    let (low, high) =
        (needed(rope, "low_freq_factor")?, needed(rope, "high_freq_factor")?);
    let (before, factor) = (before(rope, all)?, needed(rope, "factor")?);
    Ok(move |frequency: f64| {
        let rounds = before * frequency / TAU;
        let kept = ((rounds - low) / (high - low)).clamp(0.0, 1.0);
        frequency * (kept + (1.0 - kept) / factor)
    })
}

fn yarn(
    rope: &Settings,
    all: &Settings,
    base: f64,
    n_rotated: usize,
    rotary: Rotary,
) -> Result<Rotary> {
    let before = before(rope, all)?;
    let factor = match rope.above_0("factor")? {
        Some(factor) => factor,
        None if rope.is_missing("factor") => needed(rope, "factor")?,
        None => all.positive("max_position_embeddings")? as f64 / before,
    };
    let or = |key: &str, default: f64| -> Result<f64> {
        Ok(rope.above_0(key)?.unwrap_or(default))
    };
    let rounds = [or("beta_fast", YARN_ROUNDS[0])?, or("beta_slow", YARN_ROUNDS[1])?];
    let ends = yarn_ends(base, n_rotated, before, rounds, rope.flag("truncate", true)?);
    let of = |weight: f64| yarn_amplitude(factor, weight);
    let weights = [rope.eps("mscale", 0.0)?, rope.eps("mscale_all_dim", 0.0)?];
    let amplitude = match (rope.above_0("attention_factor")?, weights) {
        (Some(amplitude), _) => amplitude,
        (None, [own, all]) if own > 0.0 && all > 0.0 => of(own) / of(all),
        (None, _) => of(1.0),
    };
    Ok(Rotary { amplitude, ..rotary.yarn(ends, factor)? })
}
