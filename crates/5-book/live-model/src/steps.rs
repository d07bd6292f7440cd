//! What all texts that are written have alike: what is asked, what a step tells, and how likely
//! each token was.

use attention::Matrix;
use model_files::shown;
use models::decoders::{Looks, PackedCaches};
use models::{Choice, Sampling};
use serde_json::{Value, json};
use texts::{Growing, Text};

use crate::Error;

/// So many of the tokens that may come next are told.
const MOST_LIKELY: usize = 10;

/// A text that a model is to write, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// What it goes on with, or what it reads.
    pub prompt: String,
    /// The most likely token for 0, and else by chance.
    pub temperature: f64,
    /// By chance among the most likely tokens that have this chance together; 1 for all.
    pub top_p: f64,
    /// Of that chance.
    pub seed: u64,
    /// How many tokens it writes at most.
    pub n_tokens: usize,
    /// The names of the heads that put out zeros.
    pub off: Vec<String>,
}

impl Request {
    pub(crate) fn choice(&self) -> Result<Choice, Error> {
        Ok(match self.temperature == 0.0 {
            true => Choice::greedy(),
            false => Choice::by(self.sampling()?, self.seed),
        })
    }

    /// The chances that a page shows; of greedy writing, those that the model gives.
    pub(crate) fn sampling(&self) -> Result<Sampling, Error> {
        let plain = Sampling::default();
        Ok(match self.temperature == 0.0 {
            true => plain,
            false => plain.temperature(self.temperature)?.top_p(self.top_p)?,
        })
    }
}

/// A text that is being written.
#[derive(Debug)]
pub struct Writing {
    pub(crate) writing: models::Writing<PackedCaches>,
    /// Behind a source what was written, without the token that is read first.
    pub(crate) text: Growing,
    /// How many tokens the prompt or the source has.
    pub(crate) n_given: usize,
    pub(crate) sampling: Sampling,
}

/// What has become of a text.
#[derive(Debug)]
pub struct Step {
    /// As a page is told.
    pub told: Value,
    /// Where the heads looked from the token that was read last, once all are read; in a model
    /// that has a source, first those on what is written, then those on the source.
    pub looks: Vec<Looks>,
    /// All maps of a source that was read just now: of layer l and head i `source[l][i]`,
    /// `[n_source, n_source]`.
    pub source: Option<Vec<Vec<Matrix<f32>>>>,
    /// Whether nothing more comes.
    pub is_last: bool,
}

impl Step {
    /// All shares, head after head, and within a map row after row; in the order of the
    /// fields.
    pub fn shares(&self) -> Vec<f32> {
        let mut shares: Vec<f32> = self.looks.iter().flat_map(Looks::shares).collect();
        let rows = self.source.iter().flatten().flatten().flat_map(Matrix::row_iter);
        rows.for_each(|row| shares.extend(row.iter()));
        shares
    }
}

/// What a page is told of a token that was chosen, and behind which it stands, with what may have come, the
/// likeliest first.
pub(crate) fn chosen(
    text: &Text,
    to: &mut Writing,
    logits: &[f64],
    id: usize,
) -> Result<Value, Error> {
    let chances = to.sampling.chances(logits);
    let row = |id| json!({ "id": id, "piece": piece(text, id), "p": chances[id] });
    let likely: Vec<_> = most_likely(logits).into_iter().map(row).collect();
    let mut next = token(text, &mut to.text, id)?;
    next["p"] = chances[id].into();
    let draft = to.writing.draft();
    Ok(json!({
        "at": draft.n_read() - 1, "likely": likely, "next": next,
        "is_end": draft.has_ended(), "is_last": draft.is_done(),
    }))
}

/// The next token of a text: its id, its piece, and what it adds to the text, which is
/// nothing where a character is not complete.
pub(crate) fn token(
    text: &Text,
    growing: &mut Growing,
    id: usize,
) -> Result<Value, Error> {
    let adds = growing.add(text, &[id])?;
    Ok(json!({ "id": id, "piece": piece(text, id), "adds": adds }))
}

/// A token as a page shows it: of a character's part, what the vocabulary has.
pub(crate) fn piece(text: &Text, id: usize) -> String {
    let decoded = text.decode(&[id]).unwrap_or_default();
    let seen = decoded.replace(' ', "_").replace('\n', "↵").replace('\t', "⇥");
    let seen = shown(&seen);
    match seen.is_empty() || seen.contains('\u{fffd}') {
        true => shown(&text.pieces_of(&[id]).concat()),
        false => seen,
    }
}

/// The ids of the largest logits, those first; what is forbidden is not among them.
fn most_likely(logits: &[f64]) -> Vec<usize> {
    let mut largest: Vec<usize> = Vec::new();
    let logit = |id: usize| logits[id];
    for id in (0..logits.len()).filter(|&id| logit(id) > f64::NEG_INFINITY) {
        let place = largest.partition_point(|&other| logit(other) >= logit(id));
        if place < MOST_LIKELY {
            largest.insert(place, id);
            largest.truncate(MOST_LIKELY);
        }
    }
    largest
}
