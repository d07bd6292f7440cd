//! What a mistake would do: from the numbers that are kept of it, without its code.

use anyhow::{Context, Result, bail};
use catalogue::{Exercise, Mistake, layer_mistake};
use exercises::{Numbers, Precision, Report, any};
use serde_json::{Value, json};

/// What this mistake of an exercise does; or which mistakes these words may mean.
///
/// # Errors
/// An exercise whose numbers cannot be read.
pub fn what_if(exercise: &Exercise, change: &str) -> Result<Value> {
    let mistakes = &exercise.sheet.mistakes;
    if mistakes.is_empty() {
        bail!("no mistakes of {} are known by their numbers", exercise.name);
    }
    let mistake = mistakes.iter().find(|mistake| mistake.id == change);
    let mut reply = json!({
        "version": Report::VERSION,
        "exercise": exercise.name,
        "mistake": null,
        "symptom": null,
        "first_difference": null,
        "stays_right": [],
        "candidates": [],
    });
    match mistake {
        Some(mistake) => done_by(exercise, mistake, &mut reply)?,
        None => {
            let found = candidates(mistakes, change);
            let candidate = |it: &&Mistake| json!({"id": it.id, "name": it.name});
            reply["candidates"] = found.iter().map(candidate).collect();
        }
    }
    Ok(reply)
}

/// Those that have most of these words; all where none has any.
fn candidates<'a>(mistakes: &'a [Mistake], words: &str) -> Vec<&'a Mistake> {
    let words = words.to_lowercase();
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '√';
    let words: Vec<&str> =
        words.split(|c| !is_part(c)).filter(|it| it.chars().count() > 2).collect();
    let score = |it: &&Mistake| {
        let symptom = layer_mistake(&it.id).map_or("", |layer| &layer.symptom);
        let text = [&it.id, &it.name, &it.does, &it.looks_right, symptom].join(" ");
        let text = text.to_lowercase();
        words.iter().filter(|word| text.contains(**word)).count()
    };
    let most = mistakes.iter().map(|it| score(&it)).max().unwrap_or_default();
    mistakes.iter().filter(|it| score(it) == most).collect()
}

fn done_by(exercise: &Exercise, mistake: &Mistake, reply: &mut Value) -> Result<()> {
    let any = any(&exercise.name).context("it compares no numbers")?;
    let kept = Numbers::of(exercise).map_err(anyhow::Error::msg)?;
    let wrong = kept.wrong.iter().filter(|wrong| wrong.id == mistake.id);
    // Of the answers that make it, one that fails least tells most.
    let n_failed = |wrong: &&exercises::Wrong| {
        wrong.outcomes.iter().filter(|outcome| matches!(outcome, Some(None))).count()
    };
    let wrong = wrong.min_by_key(n_failed).context("no numbers of it are kept")?;
    let verdict = any.verdict_on(&kept, wrong.outcomes(&kept.cases), Precision::FULL);
    let words = exercise.into();
    let report = json!(Report::of(&words, &verdict));
    let text = report["first_difference"]["text"].as_str().unwrap_or_default();
    let text = text.replace("yours is", "it gives").replace("Yours is", "It gives");
    reply["first_difference"] = report["first_difference"].clone();
    reply["first_difference"]["text"] = text.into();
    let cases = kept.cases.iter().zip(&wrong.outcomes);
    let right = cases.filter(|(_, outcome)| outcome.is_none());
    reply["stays_right"] = right.map(|(case, _)| case.sizes.as_str()).collect();
    reply["symptom"] = json!(layer_mistake(&mistake.id).map(|it| &it.symptom));
    reply["mistake"] = json!(words.mistakes.iter().find(|it| it.id == mistake.id));
    Ok(())
}
