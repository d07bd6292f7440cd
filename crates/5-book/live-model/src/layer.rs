//! A reader's own layer, and what is wrong with it.

use attention::{Matrix, max_abs_diff};
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
pub fn overrides(choices: &Value) -> Overrides {
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
/// show, the diagnosis, and the step of the first sequence that differs, as it is beside as it
/// should be, where both are known.
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
        "differs": differs(&reading, &diagnosis),
        "diagnosis": diagnosis,
    }))
}

/// What a page draws of a layer, in the order in which it is computed.
const DRAWN: [State; 5] =
    [State::Attn, State::HeadValue, State::Heads, State::Concat, State::Output];

/// What share of the largest entry an eye sees as another.
const SEEN: f64 = 0.02;

/// The first tensor of the first sequence that is seen to be another than it should be, or the
/// maps where none is: its name, how it is and how it should be, a list of rows a head.
fn differs(reading: &Reading, diagnosis: &Diagnosis) -> Value {
    let Reading { record, intent, .. } = reading;
    let mistakes = diagnosis.explanations.first().map_or(&[][..], Vec::as_slice);
    let number = diagnosis.number.map(|number| number.applied(intent));
    let without_steps = Record { tensors: Default::default(), ..record.clone() };
    let both = |state: State| {
        let should = computed(&without_steps, intent, state, &[])?;
        let is = match record.tensors.get(&state) {
            Some(given) => given.clone(),
            None if diagnosis.verdict == diagnosis::Verdict::Unknown => return None,
            None => computed(record, number.as_ref().unwrap_or(intent), state, mistakes)?,
        };
        let n = if state.is_per_head() { intent.n_heads } else { 1 };
        Some((state, is.into_iter().zip(should).take(n).collect::<Vec<_>>()))
    };
    let known: Vec<_> = DRAWN.into_iter().filter_map(both).collect();
    let is_other = |(is, should): &(Matrix, Matrix)| {
        !max_abs_diff(is, should).is_ok_and(|apart| apart <= SEEN * should.amax())
    };
    let differs = known.iter().find(|(_, pairs)| pairs.iter().any(is_other));
    let Some((state, pairs)) = differs.or(known.first()) else { return Value::Null };
    let rows = |matrix: &Matrix| -> Vec<Vec<f64>> {
        matrix.row_iter().map(|row| row.iter().copied().collect()).collect()
    };
    let (is, should): (Vec<_>, Vec<_>) =
        pairs.iter().map(|(a, b)| (rows(a), rows(b))).unzip();
    json!({ "of": state.name(), "is": is, "should": should })
}
