//! The most likely texts that a beam search finds.

use std::fmt::Write as _;

use anyhow::Result;
use model_files::{Sequence, shown};
use models::BeamSearch;
use models::decoders::{CachedDecoder, FastDecoder};
use texts::{Growing, Text};

/// The best `width` texts behind a prompt, the best first, each with its score.
///
/// # Errors
/// As [`BeamSearch::search`].
pub(super) fn found(
    model: &mut FastDecoder,
    tokenizer: &Text,
    prompt: &Sequence,
    width: usize,
    most: usize,
) -> Result<String> {
    let ends = model.config().ends.clone();
    let search = BeamSearch { width, most, ends, alpha: 1.0 };
    let caches = model.caches(prompt.n_tokens() + most);
    let beams = search.search(&prompt.ids, caches, |caches, ids| {
        Ok(model.read_behind(ids, caches, false)?.0)
    })?;
    let mut text = Growing::default();
    let given = text.add(tokenizer, &prompt.ids)?.replace('\n', "↵");
    let mut to = format!("{}\n\nscore   tokens  what follows\n", shown(&given));
    for beam in beams {
        let n_tokens = beam.ids.len();
        let n_shown = n_tokens - usize::from(beam.has_ended);
        let new = text.clone().add(tokenizer, &beam.ids[..n_shown])?.replace('\n', "↵");
        writeln!(to, "{:<6.3}  {n_tokens:>6}  {}", beam.score, shown(&new))?;
    }
    to += "\nThe score is the mean of the log-chances of a text's tokens: 0 is a sure text.\n";
    Ok(to)
}
