//! A model that writes, one token at a time: what it might have written, and where its heads
//! looked.

mod names;

use ablation::Draws;
use models::decoders::study::Head;
use models::decoders::{Choice, FastDecoder, PackedCaches};
use serde_json::{Value, json};
use texts::{Growing, Long, Text};

use crate::steps::{Chosen, token};
use crate::{Asked, Error, Step};

pub use names::NamesTest;

/// Tokens of a prompt that are read at once, so that a page can say how far it is, and stop.
const PIECE: usize = 16;

/// A model that writes.
#[derive(Debug)]
pub struct Author {
    model: FastDecoder,
    text: Text,
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
    /// As [`Text::pieces`], [`Choice::sampled`] and [`FastDecoder::ablate`];
    /// [`Error::Positions`].
    pub fn begin(&mut self, asked: &Asked) -> Result<(Writing, Value), Error> {
        let n_positions = self.model.config.n_positions;
        let pieces = self.text.pieces(&asked.prompt, n_positions, Long::Refuse)?;
        let ids = pieces.sequence.ids;
        let (n_text, n_new) = (ids.len(), asked.n_tokens);
        if n_text + n_new > n_positions {
            return Err(Error::Positions { n_text, n_new, n_positions });
        }
        let choice = asked.choice()?;
        self.model.ablate(&asked.off)?;
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
            tokens.push(token(&self.text, &mut writing.text, id)?);
        }
        Ok((writing, json!({ "tokens": tokens })))
    }

    /// Reads what is unread, or the first of it; once all is read, chooses what comes next.
    ///
    /// # Errors
    /// As [`FastDecoder::read`]; [`models::Error::Logits`].
    pub fn step(&mut self, writing: &mut Writing) -> Result<Step, Error> {
        // Another text, or a test of names, may have been read without other heads.
        self.model.ablate(&writing.off)?;
        let n_read = writing.caches.n_tokens();
        let ids = writing.text.ids();
        let end = ids.len().min(n_read + PIECE);
        let unread = &ids[n_read..end];
        if end < ids.len() {
            self.model.read(unread, &mut writing.caches)?;
            let told = json!({ "n_read": end, "n_tokens": ids.len() });
            return Ok(Step { told, looks: Vec::new(), source: None, is_last: false });
        }
        let (logits, looks) = self.model.read_looking(unread, &mut writing.caches)?;
        let logits: Vec<f64> = logits.into_iter().map(f64::from).collect();
        let chosen =
            Chosen::of(&logits, &mut writing.choice, writing.temperature, &self.text)?;
        let n_written = ids.len() - writing.n_prompt + 1;
        let is_end = self.model.config.ends.contains(&chosen.id);
        let is_last = is_end || n_written >= writing.n_tokens;
        let is = [is_end, is_last];
        let told = chosen.told(&self.text, &mut writing.text, end - 1, is)?;
        Ok(Step { told, looks: vec![looks], source: None, is_last })
    }

    /// As many random other heads of the same layers, as a control; fewer where a layer has no
    /// others.
    pub fn others(&self, heads: &[Head], seed: u64) -> Vec<Head> {
        let n_heads = self.model.config.dims().n_heads();
        let mut draws = Draws::new(heads, n_heads, 1, seed);
        draws.sets.pop().unwrap_or_default()
    }
}
