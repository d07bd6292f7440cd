//! How many heads there are, which no file of weights stores.

use super::kinds::Kinds;
use super::settings::{FILE, HEADS};
use super::{Files, expect_scores, masks, names, notes, positions, tensors};
use crate::compare::{difference, spread};
use crate::{Error, Intent, Record, Result, State};

/// h, as was said, or as the file or a tensor with an axis of heads says.
pub fn read(files: &Files<'_>, kinds: &Kinds) -> Result<Option<usize>> {
    if let Some((heads, by)) = files.meant(files.said.heads, &HEADS)? {
        files.say(by, notes::heads(heads, heads));
        return Ok(Some(heads));
    }
    let first = |state| files.first(names::of(state));
    let maps = first(State::Attn).or_else(|| first(State::Scores));
    let of_maps = maps.and_then(|(name, tensor)| match *tensor.shape() {
        [_, heads, _, _] => Some((heads, name.to_string())),
        _ => None,
    });
    let Some((heads, name)) = of_maps.or(kinds.heads.clone()) else { return Ok(None) };
    files.say(FILE, format!("{} in {name}", notes::heads(heads, heads)));
    Ok(Some(heads))
}

/// The number of heads with which the output is the right one, where no one says it.
pub fn tried(files: &Files<'_>, record: &Record, intent: &Intent) -> Result<[usize; 2]> {
    let [width, kv_width] = [0, 1].map(|role| record.weights.projections[role].d_out());
    // What is tried is not told.
    let notes = files.notes.take();
    let mut fitting = Vec::new();
    for heads in (1..=width).filter(|h| width.is_multiple_of(*h)) {
        let kv_heads = kv_width * heads / width;
        let is_whole = kv_heads > 0 && kv_heads * width == kv_width * heads;
        if !is_whole || !heads.is_multiple_of(kv_heads) {
            continue;
        }
        let slopes = intent.slopes.as_ref().map(|_| Intent::paper_slopes(heads));
        let mut intent =
            Intent { n_heads: heads, n_kv_heads: kv_heads, slopes, ..intent.clone() };
        if expect_scores(record, &intent).is_err() {
            continue;
        }
        let mut record = record.clone();
        masks::read(files, &mut record, &mut intent)?;
        positions::read(files, &record, &mut intent)?;
        tensors::read(files, &mut record, &intent)?;
        let right = crate::computed(&record, &intent, State::Output, &[]);
        let given = record.output();
        let apart = right.and_then(|right| difference(given, &right));
        if apart.is_some_and(|it| it.rms < 0.05 * spread(given)) {
            fitting.push([heads, kv_heads]);
        }
    }
    files.notes.replace(notes);
    match fitting[..] {
        [one] => Ok(one),
        _ => Err(Error::UnknownHeads { width }),
    }
}
