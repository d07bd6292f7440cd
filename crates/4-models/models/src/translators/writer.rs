//! A model that writes: what it reads first, what it must write, and where it stops.

use attention::Real;

use crate::Result;
use crate::translators::Config;
use crate::translators::cached::Source;
use crate::translators::translator::AsRead;
use crate::writing::{Choice, Draft, Predict, Writer};

/// The start of a target, which goes on up to an end or to `most` tokens and keeps to what the
/// model's files force or forbid.
pub(crate) fn draft(config: &Config, choice: Choice, most: usize) -> Result<Draft> {
    let start = config.writing.start(config.n_target_vocabulary)?;
    // Positions are spent by what is read, and the last is not.
    let draft = Draft::new(&[start], choice).up_to(most.min(config.longest()));
    Ok(draft.keeping_to(config.writing.clone()))
}

impl<T: Real> AsRead<T> {
    /// What reads a target, from its start, for the logits behind each of its tokens.
    pub fn reader<'a>(&'a self, source: &'a Source<T>) -> impl Predict + 'a {
        let mut caches = self.caches();
        move |ids: &[usize]| {
            let decoded = self.decode_cached(ids, source, &mut caches)?;
            let out = decoded.out();
            let logits = self.logits(&out.rows(out.nrows() - 1, 1).into_owned())?;
            Ok(logits.iter().map(|logit| logit.to_f64()).collect())
        }
    }

    /// Writes greedily: from the start token on, of each logits the largest, up to an end or to
    /// `most` tokens. What the model's files force first or forbid is kept to.
    ///
    /// # Errors
    /// [`Error::Files`](crate::Error::Files) for a model whose files do not say with which token
    /// it starts, or ask for tokens that it has not; as [`decode_cached`](Self::decode_cached);
    /// [`Error::Logits`](crate::Error::Logits).
    pub fn write(&self, source: &Source<T>, most: usize) -> Result<Draft> {
        let draft = draft(&self.config, Choice::greedy(), most)?;
        Writer::of(self.reader(source), draft).finish()
    }
}
