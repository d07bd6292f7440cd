//! A model that writes, one token at a time: what it might have written, and where its heads
//! looked.

mod names;

use decoders::study::Head;
use decoders::{Choice, FastDecoder, Looks, PackedCaches};
use model_files::shown;
use serde_json::{Value, json};
use texts::{Growing, Long, Text};
use training::Draws;

use crate::Error;

pub use names::NamesTest;

/// Tokens of a prompt that are read at once, so that a page can say how far it is, and stop.
const PIECE: usize = 16;

/// So many of the tokens that may come next are told.
const MOST_LIKELY: usize = 10;

/// A model that writes.
#[derive(Debug)]
pub struct Author {
    model: FastDecoder,
    text: Text,
}

/// What is asked of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// What it goes on with.
    pub prompt: String,
    /// The most likely token for 0, and else by chance.
    pub temperature: f64,
    /// Of that chance.
    pub seed: u64,
    /// How many tokens it writes at most.
    pub n_tokens: usize,
    /// The heads that put out zeros.
    pub off: Vec<Head>,
}

/// A text that is being written.
#[derive(Debug)]
pub struct Writing {
    caches: PackedCaches,
    text: Growing,
    n_prompt: usize,
    n_tokens: usize,
    temperature: f64,
    choice: Choice,
    off: Vec<Head>,
}

/// What has become of a text.
#[derive(Debug)]
pub struct Step {
    /// As a page is told.
    pub told: Value,
    /// Where the heads looked from the token that was read last, once all are read.
    pub looks: Option<Looks>,
    /// Whether nothing more comes.
    pub is_last: bool,
}

impl Author {
    pub(crate) fn new(model: FastDecoder, text: Text) -> Self {
        // Every machine tells the same.
        Self { model: model.in_f32(), text }
    }

    /// What a reader is told of it.
    pub fn about(&self) -> Value {
        let config = &self.model.config;
        let groups = config.sizes.groups;
        json!({
            "writes": true,
            "family": config.family.name,
            "n_layers": config.n_layers,
            "n_heads": groups.n_heads(),
            "n_kv_heads": groups.n_kv_heads(),
            "longest": config.n_positions,
            "n_vocabulary": config.n_vocabulary,
            "weight_bytes": self.model.weight_bytes(),
        })
    }

    /// Begins a text; gives its tokens too, as a page shows them.
    ///
    /// # Errors
    /// As [`Text::pieces`], [`Choice::sampled`] and [`FastDecoder::switch_off`];
    /// [`Error::Positions`].
    pub fn begin(&mut self, asked: &Asked) -> Result<(Writing, Value), Error> {
        let n_positions = self.model.config.n_positions;
        let pieces = self.text.pieces(&asked.prompt, n_positions, Long::Refuse)?;
        let ids = pieces.sequence.ids;
        let (n_text, n_new) = (ids.len(), asked.n_tokens);
        if n_text + n_new > n_positions {
            return Err(Error::Positions { n_text, n_new, n_positions });
        }
        let choice = match asked.temperature == 0.0 {
            true => Choice::greedy(),
            false => Choice::sampled(asked.temperature, asked.seed)?,
        };
        self.model.switch_off(&asked.off)?;
        let mut writing = Writing {
            caches: self.model.caches(n_text + n_new),
            text: Growing::default(),
            n_prompt: n_text,
            n_tokens: n_new,
            temperature: asked.temperature,
            choice,
            off: asked.off.clone(),
        };
        let mut tokens = Vec::new();
        for id in ids {
            tokens.push(self.append(&mut writing, id)?);
        }
        Ok((writing, json!({ "tokens": tokens })))
    }

    /// Reads what is unread, or the first of it; once all is read, chooses what comes next.
    ///
    /// # Errors
    /// As [`FastDecoder::read`]; [`decoders::Error::NotFinite`].
    pub fn step(&mut self, writing: &mut Writing) -> Result<Step, Error> {
        // Another text, or a test of names, may have been read without other heads.
        self.model.switch_off(&writing.off)?;
        let n_read = writing.caches.n_tokens();
        let ids = writing.text.ids();
        let end = ids.len().min(n_read + PIECE);
        let unread = &ids[n_read..end];
        if end < ids.len() {
            self.model.read(unread, &mut writing.caches)?;
            let told = json!({ "n_read": end, "n_tokens": ids.len() });
            return Ok(Step { told, looks: None, is_last: false });
        }
        let (logits, looks) = self.model.read_looking(unread, &mut writing.caches)?;
        let logits: Vec<f64> = logits.into_iter().map(f64::from).collect();
        let is_none = |logit: &&f64| logit.is_nan() || **logit == f64::INFINITY;
        let (found, n_logits) = (logits.iter().filter(is_none).count(), logits.len());
        let id = match writing.choice.of(&logits) {
            Some(id) if found == 0 => id,
            _ => return Err(decoders::Error::NotFinite { found, n_logits }.into()),
        };
        let chances = Chances::new(&logits, writing.temperature);
        let likely: Vec<Value> = chances
            .most_likely(&logits)
            .into_iter()
            .map(|id| json!({ "id": id, "piece": self.piece(id), "p": chances.of(logits[id]) }))
            .collect();
        let at = end - 1;
        let n_written = ids.len() - writing.n_prompt + 1;
        let is_end = self.model.config.ends.contains(&id);
        let is_last = is_end || n_written >= writing.n_tokens;
        let mut next = self.append(writing, id)?;
        next["p"] = chances.of(logits[id]).into();
        let told = json!({
            "at": at, "likely": likely, "next": next, "is_end": is_end, "is_last": is_last,
        });
        Ok(Step { told, looks: Some(looks), is_last })
    }

    /// As many random other heads of the same layers, as a control; fewer where a layer has no
    /// others.
    pub fn others(&self, heads: &[Head], seed: u64) -> Vec<Head> {
        let n_heads = self.model.config.dims().n_heads();
        let mut draws = Draws::new(heads, n_heads, 1, seed);
        draws.sets.pop().unwrap_or_default()
    }

    /// The next token of a text: its id, its piece, and what it adds to the text, which is
    /// nothing where a character is not complete.
    fn append(&self, writing: &mut Writing, id: usize) -> Result<Value, Error> {
        let adds = writing.text.add(&self.text, &[id])?;
        Ok(json!({ "id": id, "piece": self.piece(id), "adds": adds }))
    }

    /// A token as a page shows it: of a character's part, what the vocabulary has.
    fn piece(&self, id: usize) -> String {
        let decoded = self.text.decode(&[id]).unwrap_or_default();
        let seen = decoded.replace(' ', "_").replace('\n', "↵").replace('\t', "⇥");
        let seen = shown(&seen);
        match seen.is_empty() || seen.contains('\u{fffd}') {
            true => shown(&self.text.pieces_of(&[id]).concat()),
            false => seen,
        }
    }
}

/// Softmax of logits at a temperature; of greedy writing, at 1.
struct Chances {
    temperature: f64,
    largest: f64,
    sum: f64,
}

impl Chances {
    fn new(logits: &[f64], temperature: f64) -> Self {
        let temperature = if temperature == 0.0 { 1.0 } else { temperature };
        let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let each = logits.iter().map(|logit| ((logit - largest) / temperature).exp());
        Self { temperature, largest, sum: each.sum() }
    }

    fn of(&self, logit: f64) -> f64 {
        ((logit - self.largest) / self.temperature).exp() / self.sum
    }

    /// The ids of the largest, those first.
    fn most_likely(&self, logits: &[f64]) -> Vec<usize> {
        let mut largest: Vec<usize> = Vec::new();
        for (id, logit) in logits.iter().enumerate() {
            let place = largest.partition_point(|&other| logits[other] >= *logit);
            if place < MOST_LIKELY {
                largest.insert(place, id);
                largest.truncate(MOST_LIKELY);
            }
        }
        largest
    }
}
