//! The letter that comes next, and which letters may be drawn: temperature, top-k and top-p on
//! one distribution.

use anyhow::Result;
use attention::softmax_rows;
use figures::{Figure, WeightRow, probabilities};
use gpt::{Model, scalars};
use models::{Beam, BeamSearch, Sampling};

use super::learned;
use crate::{Args, charts};

/// The beginning of a name.
pub const PREFIX: &str = "mar";
/// So many letters have a bar.
const SHOWN: usize = 12;

/// Four ways to draw, by what they are called.
///
/// # Errors
/// None of these is refused.
pub fn ways() -> models::Result<[(&'static str, Sampling); 4]> {
    let plain = Sampling::default();
    Ok([
        ("temperature 1", plain),
        ("temperature 0.5", plain.temperature(0.5)?),
        ("top-k, 4 letters", plain.top_k(4)?),
        ("top-p, 0.8", plain.top_p(0.8)?),
    ])
}

/// A beginning as ids: an end, and its letters.
pub fn ids(prefix: &str) -> Vec<usize> {
    let mut ids = scalars::ids(prefix);
    ids.pop();
    ids
}

/// What a letter is called, and the end.
pub fn letter(id: usize) -> String {
    match id {
        0 => "end".to_owned(),
        id => char::from(b'a' + id as u8 - 1).to_string(),
    }
}

/// The letters, the most likely first.
pub fn order(logits: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..logits.len()).collect();
    order.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]));
    order
}

pub(super) fn figure(_: &Args) -> Result<Figure> {
    let logits = learned::first()?.next(&ids(PREFIX))?;
    let order = order(&logits);
    let letters: Vec<String> = order[..SHOWN].iter().map(|&id| letter(id)).collect();
    let row = |(name, sampling): (&str, Sampling)| {
        let chances = sampling.chances(&logits);
        let shares = order[..SHOWN].iter().map(|&id| chances[id]).collect();
        WeightRow { name: name.to_owned(), shares }
    };
    let title = format!(
        "After “{PREFIX}”: a temperature changes all letters, top-k and top-p leave the likely ones"
    );
    Ok(probabilities(title, &letters, &ways()?.map(row))?)
}

/// What the model expects after each letter of a name, with a ring at what comes.
pub(super) fn guesses(_: &Args) -> Result<Figure> {
    let ids = scalars::ids("marian"); // one that it never saw
    let read = &ids[..ids.len() - 1];
    let guesses = softmax_rows(learned::first()?.read(read)?.logits);
    let sign = |id| if id == 0 { "⏎".to_owned() } else { letter(id) };
    let names = [read.to_vec(), (0..guesses.ncols()).collect()];
    let names = names.map(|ids| ids.into_iter().map(sign).collect::<Vec<_>>());
    let title = "One pass guesses after each letter; the letter that comes is ringed";
    let what = "read ↓, probability of what comes next →";
    charts::ringed(title, what, &names, &guesses, &ids[1..])
}

/// How many tokens with these chances a top-p leaves.
///
/// # Errors
/// As [`Sampling::top_p`].
pub fn kept(chances: &[f64], p: f64) -> models::Result<usize> {
    let logits: Vec<f64> = chances.iter().map(|chance| chance.ln()).collect();
    let chances = Sampling::default().top_p(p)?.chances(&logits);
    Ok(chances.iter().filter(|&&chance| chance > 0.0).count())
}

/// The most likely names by a beam of so many, the best first.
///
/// # Errors
/// As [`Model::next`].
pub fn beams(model: &Model, width: usize, alpha: f64) -> models::Result<Vec<Beam>> {
    let search = BeamSearch { width, most: 15, ends: vec![0], alpha };
    search.search(&[0], Vec::new(), |read: &mut Vec<usize>, new| {
        read.extend(new);
        Ok(model.next(read)?)
    })
}
