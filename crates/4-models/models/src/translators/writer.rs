//! A model that writes: what it reads first, what it must write, and where it stops.

use attention::Real;
use block::Layers;
use variants::Cache;

use crate::Result;
use crate::translators::Config;
use crate::translators::cached::Source;
use crate::translators::translator::AsRead;
use crate::writing::{Choice, Draft, Predict, Writer};

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

/// The start of a target, which goes on up to an end or to `most` tokens and keeps to what the
/// model's files force or forbid.
///
/// # Errors
/// [`Error::Files`](crate::Error::Files) for a model whose files do not say with which token
/// it starts, or ask for tokens that it has not.
pub(crate) fn draft(config: &Config, choice: Choice, most: usize) -> Result<Draft> {
    let start = config.writing.start(config.n_target_vocabulary)?;
    // Positions are spent by what is read, and the last is not.
    let draft = Draft::new(&[start], choice).up_to(most.min(config.longest()));
    Ok(draft.keeping_to(config.writing.clone()))
}

/// Writes greedily: from the start token on, of each logits the largest, up to an end or to
/// `most` tokens. What the model's files force first or forbid is kept to.
///
/// # Errors
/// [`Error::Files`](crate::Error::Files) for a model whose files do not say with which token
/// it starts, or ask for tokens that it has not; as `reader`;
/// [`Error::Logits`](crate::Error::Logits).
pub fn write(config: &Config, reader: impl Predict, most: usize) -> Result<Draft> {
    Writer::of(reader, draft(config, Choice::greedy(), most)?).finish()
}
