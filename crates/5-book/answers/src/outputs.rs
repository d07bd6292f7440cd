//! From what a function returned to the matrices that are compared.

use attention::Matrix;
use exercises::{AnyExercise, CaseNumbers, Numbers, Outcome, Panic};
use serde_json::Value as Json;

use crate::{Error, Result, Value};

type Found = Outcome<Vec<Matrix>>;

/// An outcome for each case.
pub fn of_cases(
    exercise: &dyn AnyExercise,
    kept: &Numbers,
    value: Value,
) -> Result<Vec<Found>> {
    let expected = kept.cases.len();
    let answers = match value {
        Value::List(all) if all.len() == expected => all,
        other if expected == 1 => vec![other],
        Value::List(all) => return Err(Error::Cases { found: all.len(), expected }),
        _ => return Err(Error::Cases { found: 1, expected }),
    };
    let cases = answers.iter().zip(&kept.cases).enumerate();
    cases
        .map(|(case, (answer, kept))| {
            let parts = parts(answer, kept, exercise.is_list());
            let parts = parts.map_err(|what| Error::Case { case, what })?;
            Ok(Outcome::Value(parts))
        })
        .collect()
}

/// An outcome for each line of a reply.
pub fn of_lines(
    exercise: &dyn AnyExercise,
    kept: &Numbers,
    reply: &str,
) -> Result<Vec<Found>> {
    let lines = reply.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let lines: Vec<(usize, &str)> = lines.map(|(at, line)| (at + 1, line)).collect();
    let outcomes = lines.iter().zip(&kept.cases).map(|(&(line, text), kept)| {
        let refused = |what: String| Error::Reply { line, what };
        let json: Json =
            serde_json::from_str(text).map_err(|error| refused(error.to_string()))?;
        if let Some(message) = json.get("error") {
            let message = message.as_str().map_or(message.to_string(), str::to_owned);
            let at = json.get("at").and_then(Json::as_str).unwrap_or("your function");
            let at = at.to_owned();
            return Ok(Outcome::Panicked(Panic { message, at }));
        }
        let outputs = json.get("outputs");
        let outputs = outputs.ok_or_else(|| refused("it has no \"outputs\"".into()))?;
        let value = Value::of_json(outputs)
            .ok_or_else(|| refused("its outputs hold a text that is no number".into()))?;
        parts(&value, kept, exercise.is_list()).map(Outcome::Value).map_err(refused)
    });
    let outcomes = outcomes.collect::<Result<Vec<_>>>()?;
    if lines.len() != kept.cases.len() {
        return Err(Error::Cases { found: lines.len(), expected: kept.cases.len() });
    }
    Ok(outcomes)
}

/// The matrices of an answer. Where one is asked for, an array is that one, whatever axes of
/// length 1 stand in front; where several are, each of a list is one, and an array of three
/// axes several.
fn parts(
    answer: &Value,
    kept: &CaseNumbers,
    is_list: bool,
) -> std::result::Result<Vec<Matrix>, String> {
    let n_expected = kept.right.len();
    let answer = without_ones(answer, if n_expected == 1 && !is_list { 2 } else { 3 });
    let is_one = n_expected == 1 && !is_list;
    if is_one && let Some(matrix) = answer.matrix() {
        return Ok(vec![matrix]);
    }
    let Value::List(all) = answer else {
        return Ok(vec![answer.matrix().ok_or("it is None, and no array")?]);
    };
    let mut parts = Vec::new();
    for part in all {
        // None, where a bias is asked for that is not there.
        if *part == Value::Nothing {
            let place = kept.right.get(parts.len());
            parts.push(place.map_or(Matrix::zeros(0, 0), |it| it.map(|_| 0.0)));
            continue;
        }
        let part = without_ones(part, 3);
        match (part.n_axes(), part) {
            (Some(0..=2), part) => parts.extend(part.matrix()),
            (Some(3), Value::List(matrices)) => {
                parts.extend(matrices.iter().filter_map(Value::matrix));
            }
            (Some(n), _) => return Err(format!("an array of {n} axes is no matrix")),
            (None, _) => return Err("lists of different lengths are no array".into()),
        }
    }
    Ok(parts)
}

/// Without axes of length 1 in front, where there are more axes than so many.
fn without_ones(mut value: &Value, most: usize) -> &Value {
    while value.n_axes().is_some_and(|n| n > most)
        && let Value::List(all) = value
        && let [only] = &all[..]
    {
        value = only;
    }
    value
}
