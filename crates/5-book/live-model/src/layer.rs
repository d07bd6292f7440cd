//! A reader's own layer, and what is wrong with it.

use attention::Matrix;
use diagnosis::{
    Diagnosis, Overrides, Pairing, Reading, Record, State, computed, diagnose, read,
};
use serde_json::{Value, json};
use tensors::TensorFile;

use crate::Error;

/// The name of a file that has none here.
const FILE: &str = "the file";

/// What a page says of a layer besides its file: a JSON object with `heads`, `kv_heads`,
/// `causal` and `rotary`, each left out where the file says it.
pub fn said(choices: &Value) -> Overrides {
    let count = |key: &str| choices[key].as_u64().and_then(|n| n.try_into().ok());
    Overrides {
        heads: count("heads"),
        kv_heads: count("kv_heads"),
        is_causal: choices["causal"] == true,
        rotary: match choices["rotary"].as_str() {
            Some("halves") => Some(Pairing::Halves),
            Some("pairs") => Some(Pairing::Pairs),
            _ => None,
        },
        ..Overrides::default()
    }
}

/// What a page shows of a layer: what was given, what was assumed, which mistakes could not
/// show, the diagnosis, and the maps of the first sequence as they are beside those as they
/// should be, where they are known.
///
/// # Errors
/// As [`TensorFile::from_bytes`], [`read`] and [`diagnose`].
pub fn layer(bytes: Vec<u8>, said: &Overrides) -> Result<Value, Error> {
    let file = TensorFile::from_bytes(FILE, bytes)?;
    let reading = read(&[&file], said)?;
    let diagnosis = diagnose(&reading.record, &reading.intent)?;
    Ok(json!({
        "given": reading.given,
        "assumed": reading.assumed,
        "could_not_show": diagnosis.invisible,
        "maps": maps(&reading, &diagnosis),
        "diagnosis": diagnosis,
    }))
}

/// The maps of the first sequence, as they are and as they should be, a list of rows a head.
fn maps(reading: &Reading, diagnosis: &Diagnosis) -> Value {
    let Reading { record, intent, .. } = reading;
    let mistakes = diagnosis.explanations.first().map_or(&[][..], Vec::as_slice);
    let without_steps = Record { tensors: Default::default(), ..record.clone() };
    let should = computed(&without_steps, intent, State::Attn, &[]);
    let is = match record.tensors.get(&State::Attn) {
        Some(given) => Some(given.clone()),
        None if diagnosis.verdict == diagnosis::Verdict::Unknown => None,
        None => {
            let intent = diagnosis.number.map(|number| number.applied(intent));
            let intent = intent.as_ref().unwrap_or(&reading.intent);
            computed(record, intent, State::Attn, mistakes)
        }
    };
    let rows = |map: &Matrix| -> Vec<Vec<f64>> {
        map.row_iter().map(|row| row.iter().copied().collect()).collect()
    };
    let first = |maps: Option<Vec<Matrix>>| -> Option<Vec<Vec<Vec<f64>>>> {
        Some(maps?.iter().take(intent.n_heads).map(rows).collect())
    };
    json!({ "is": first(is), "should": first(should) })
}
