//! What the files of a model say of writing: with which token it begins, and which never come.

use model_files::{Settings, SmallFiles};

use crate::{Error, Result};

/// What a model's files say of writing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Generation {
    /// What the decoder reads first.
    pub start: Option<usize>,
    /// What it has to write first: a language, for example.
    pub first: Option<usize>,
    /// The ids that end a text.
    pub ends: Vec<usize>,
    /// Ids that are never written.
    pub never: Vec<usize>,
    /// Ids that are not written first.
    pub never_first: Vec<usize>,
    /// What the files ask for beside that, and is not done when a text is written greedily.
    pub left_out: Vec<&'static str>,
}

/// What changes which token is chosen, and is not done here; with what says that it is off.
const LEFT_OUT: &[(&str, f64)] = &[
    ("num_beams", 1.0),
    ("no_repeat_ngram_size", 0.0),
    ("encoder_no_repeat_ngram_size", 0.0),
    ("repetition_penalty", 1.0),
    ("min_length", 0.0),
    ("min_new_tokens", 0.0),
];

impl Generation {
    /// What a `config.json` says, or a `generation_config.json`.
    pub(crate) fn of(settings: &Settings) -> Result<Self> {
        let one = |key| id(settings, key);
        let bos = one("bos_token_id")?;
        let is_old = settings.flag("force_bos_token_to_be_generated", false)?;
        let is_on = |(key, off): &(&'static str, f64)| {
            let value = settings.get(key)?;
            (value.as_f64() != Some(*off)).then_some(*key)
        };
        Ok(Self {
            start: one("decoder_start_token_id")?.or(bos),
            first: one("forced_bos_token_id")?.or(bos.filter(|_| is_old)),
            ends: settings.ids("eos_token_id")?,
            never: never(settings)?,
            never_first: settings.ids("begin_suppress_tokens")?,
            left_out: LEFT_OUT.iter().filter_map(is_on).collect(),
        })
    }

    /// With what a folder's `generation_config.json` says, which transformers ask first.
    pub(crate) fn with_generation(self, files: &SmallFiles) -> Result<Self> {
        const FILE: &str = "generation_config.json";
        let Some(json) = files.read(FILE)? else { return Ok(self) };
        let settings = Settings::read(&files.name(FILE), &json)?;
        let other = Self::of(&settings)?;
        let or = |other: Vec<usize>, own| if other.is_empty() { own } else { other };
        let mut left_out = self.left_out;
        left_out.extend(other.left_out);
        left_out.sort_unstable();
        left_out.dedup();
        Ok(Self {
            // Its bos is only for models that say no start at all.
            start: id(&settings, "decoder_start_token_id")?
                .or(self.start)
                .or(other.start),
            first: other.first.or(self.first),
            ends: or(other.ends, self.ends),
            never: or(other.never, self.never),
            never_first: or(other.never_first, self.never_first),
            left_out,
        })
    }
}

fn id(settings: &Settings, key: &str) -> Result<Option<usize>> {
    Ok(settings.get(key).map(|_| settings.number(key, None)).transpose()?)
}

/// The tokens that are never written, by either name.
fn never(settings: &Settings) -> Result<Vec<usize>> {
    const WORDS: &str = "bad_words_ids";
    let mut never = settings.ids("suppress_tokens")?;
    let words = match settings.get(WORDS) {
        None => return Ok(never),
        Some(words) => words.as_array().map(Vec::as_slice).unwrap_or_default(),
    };
    for word in words {
        let one = word.as_array().filter(|ids| ids.len() == 1);
        let one = one.and_then(|ids| ids[0].as_u64()?.try_into().ok());
        let expected = "lists of one id each: words of several tokens are not kept out";
        never.push(one.ok_or_else(|| settings.wrong(WORDS, expected))?);
    }
    Ok(never)
}

impl Generation {
    /// Makes logits minus infinity that these settings forbid, of the first token that is
    /// written or of a later one; a first token that is forced is the only one left.
    ///
    /// # Shapes
    /// `logits` is `[n_target_vocabulary]`.
    pub fn forbid(&self, logits: &mut [f64], is_first: bool) {
        let never_first = self.never_first.iter().filter(|_| is_first);
        for &id in never_first.chain(&self.never) {
            logits.get_mut(id).into_iter().for_each(|logit| *logit = f64::NEG_INFINITY);
        }
        if let (Some(first), true) = (self.first, is_first) {
            for (id, logit) in logits.iter_mut().enumerate() {
                *logit = if id == first { 0.0 } else { f64::NEG_INFINITY };
            }
        }
    }

    /// What the decoder reads first, of a model that knows so many tokens.
    ///
    /// # Errors
    /// [`Error::Files`] if nothing says it, or for a token that the model has not.
    pub fn start(&self, n_vocabulary: usize) -> Result<usize> {
        let refused = |found: String, why| {
            let file = "config.json or generation_config.json".to_string();
            Err(Error::Files(model_files::Error::Unsupported { file, found, why }))
        };
        for (key, id) in [("forced_bos_token_id", self.first), (START, self.start)] {
            if id.is_some_and(|id| id >= n_vocabulary) {
                return refused(key.into(), "an id beyond the model's vocabulary");
            }
        }
        match self.start {
            Some(start) => Ok(start),
            None => refused(
                START.into(),
                "it is not there, and neither is bos_token_id: what the decoder reads first, \
                 nobody can say",
            ),
        }
    }
}

const START: &str = "decoder_start_token_id";
