//! A model that writes: what it reads first, what it must write, and where it stops.

use crate::decoders::{Choice, Predict, Writer};
use attention::Real;
use block::Layers;
use variants::Cache;

use crate::Result;
use crate::translators::Config;
use crate::translators::cached::Source;
use crate::translators::translator::AsRead;
use crate::translators::writing::Writing;

/// A target that is being written: a model, a source that is read, and a cache per layer.
#[derive(Debug, Clone)]
pub struct Reader<'a, T: Real = f64> {
    model: &'a AsRead<T>,
    source: &'a Source<T>,
    caches: Vec<Cache<T>>,
    last: Option<Layers<T>>,
}

impl<'a, T: Real> Reader<'a, T> {
    /// At the start of a target.
    pub fn new(model: &'a AsRead<T>, source: &'a Source<T>) -> Self {
        Self { model, source, caches: model.caches(), last: None }
    }

    /// Hidden states and maps of the tokens that were read last.
    pub fn last(&self) -> Option<&Layers<T>> {
        self.last.as_ref()
    }

    /// The caches of the target.
    pub fn caches(&self) -> &[Cache<T>] {
        &self.caches
    }
}

impl<T: Real> Predict for Reader<'_, T> {
    fn predict(&mut self, ids: &[usize]) -> Result<Vec<f64>> {
        let decoded = self.model.decode_cached(ids, self.source, &mut self.caches)?;
        let out = decoded.out();
        let logits = self.model.logits(&out.rows(out.nrows() - 1, 1).into_owned())?;
        self.last = Some(decoded);
        Ok(logits.iter().map(|logit| logit.to_f64()).collect())
    }
}

/// What reads, with logits of minus infinity where the model's files forbid a token.
struct Allowed<'a, P> {
    reader: P,
    writing: &'a Writing,
    n_read: usize,
}

impl<P: Predict> Predict for Allowed<'_, P> {
    fn predict(&mut self, ids: &[usize]) -> Result<Vec<f64>> {
        let mut logits = self.reader.predict(ids)?;
        let is_first = self.n_read == 0;
        self.n_read += ids.len();
        self.writing.forbid(&mut logits, is_first);
        Ok(logits)
    }
}

/// A text that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The ids that the decoder read first, and those that it wrote, an end among them.
    pub ids: Vec<usize>,
    /// Whether it came to an end, or was cut at the most tokens that it might have.
    pub has_ended: bool,
}

/// Writes greedily: from the start token on, of each logits the largest, up to an end or to
/// `most` tokens. What the model's files force first or forbid is kept to.
///
/// # Errors
/// [`Error::Files`](crate::Error::Files) for a model whose files do not say with which token
/// it starts, or ask for tokens that it has not; as `reader`;
/// [`Error::Logits`](crate::Error::Logits).
pub fn write(config: &Config, reader: impl Predict, most: usize) -> Result<Written> {
    let writing = &config.writing;
    let start = writing.start(config.n_target_vocabulary)?;
    let allowed = Allowed { reader, writing, n_read: 0 };
    let mut written = Written { ids: vec![start], has_ended: false };
    // Positions are spent by what is read, and the last is not.
    let most = most.min(config.longest());
    for id in Writer::new(allowed, &[start], Choice::greedy()).take(most) {
        let id = id?;
        written.ids.push(id);
        if writing.ends.contains(&id) {
            written.has_ended = true;
            break;
        }
    }
    Ok(written)
}
