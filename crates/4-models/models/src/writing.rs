//! A text that is written: one token after the other, each read before the next is chosen.

mod beam;
mod choice;
mod generation;
mod sampling;

pub use beam::{Beam, BeamSearch};
pub use choice::Choice;
pub use generation::Generation;
pub use sampling::Sampling;

use crate::{Error, Result};

/// What reads tokens and has logits for the next.
///
/// A model with its caches is one ([`decoders::Reader`](crate::decoders::Reader)), and any
/// function of ids.
pub trait Predict {
    /// The logits after these tokens, which follow all that were read before.
    ///
    /// # Shapes
    /// `[n_vocabulary]`.
    ///
    /// # Errors
    /// For ids or positions that the model does not have.
    fn predict(&mut self, ids: &[usize]) -> Result<Vec<f64>>;
}

impl<F: FnMut(&[usize]) -> Result<Vec<f64>>> Predict for F {
    fn predict(&mut self, ids: &[usize]) -> Result<Vec<f64>> {
        self(ids)
    }
}

/// A text that is being written, whatever reads it: its tokens, how many of them are read, and
/// how the next one is chosen.
#[derive(Debug, Clone)]
pub struct Draft {
    ids: Vec<usize>,
    n_given: usize,
    n_read: usize,
    most: usize,
    choice: Choice,
    generation: Generation,
    has_failed: bool,
}

impl Draft {
    /// Goes on behind a text, without end.
    pub fn new(text: &[usize], choice: Choice) -> Self {
        Self {
            ids: text.to_vec(),
            n_given: text.len(),
            n_read: 0,
            most: usize::MAX,
            choice,
            generation: Generation::default(),
            has_failed: false,
        }
    }

    /// The same with at most so many tokens.
    pub fn up_to(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// The same, kept to what a model's files say of writing.
    pub fn keeping_to(self, generation: Generation) -> Self {
        Self { generation, ..self }
    }

    /// All tokens, those that were given first.
    pub fn ids(&self) -> &[usize] {
        &self.ids
    }

    /// The tokens that were written, an end among them.
    pub fn written(&self) -> &[usize] {
        &self.ids[self.n_given..]
    }

    /// The tokens that are to be read before the next is chosen.
    pub fn unread(&self) -> &[usize] {
        &self.ids[self.n_read..]
    }

    /// How many tokens are read.
    pub fn n_read(&self) -> usize {
        self.n_read
    }

    /// Counts tokens as read.
    pub(crate) fn count_read(&mut self, n_tokens: usize) {
        self.n_read += n_tokens;
    }

    /// Whether a token that ends a text was written.
    pub fn has_ended(&self) -> bool {
        let last = self.written().last();
        last.is_some_and(|id| self.generation.ends.contains(id))
    }

    /// Whether nothing more comes: the last of a text is never read.
    pub fn is_done(&self) -> bool {
        let is_full = self.written().len() >= self.most;
        self.has_failed || self.ids.is_empty() || is_full || self.has_ended()
    }

    /// Chooses the next token from the logits behind all others. Logits that the model's files
    /// forbid become minus infinity.
    ///
    /// # Shapes
    /// `logits` is `[n_vocabulary]`.
    ///
    /// # Errors
    /// [`Error::Logits`].
    pub fn choose(&mut self, logits: &mut [f64]) -> Result<usize> {
        self.generation.forbid(logits, self.written().is_empty());
        // Minus infinity is a token that is never chosen.
        let is_none = |logit: &&f64| logit.is_nan() || **logit == f64::INFINITY;
        let (found, n_logits) = (logits.iter().filter(is_none).count(), logits.len());
        match self.choice.of(logits) {
            Some(id) if found == 0 => {
                self.n_read = self.ids.len();
                self.ids.push(id);
                Ok(id)
            }
            _ => Err(Error::Logits { found, n_logits }),
        }
    }
}

/// Tokens, one after the other, up to the end of a [`Draft`].
///
/// Each token is read when the next is asked for. After an error, at the end of the model's
/// positions for example, nothing more comes.
#[derive(Debug, Clone)]
pub struct Writer<P> {
    reader: P,
    draft: Draft,
}

impl<P: Predict> Writer<P> {
    /// Goes on behind a text, without end: the caller stops.
    pub fn new(reader: P, text: &[usize], choice: Choice) -> Self {
        Self::of(reader, Draft::new(text, choice))
    }

    /// Goes on with a draft.
    pub fn of(reader: P, draft: Draft) -> Self {
        Self { reader, draft }
    }

    /// Writes all that comes; gives the whole text.
    ///
    /// # Errors
    /// As [`Draft::choose`] and the reader.
    pub fn finish(mut self) -> Result<Draft> {
        self.try_for_each(|id| id.map(drop))?;
        Ok(self.draft)
    }
}

impl<P: Predict> Iterator for Writer<P> {
    type Item = Result<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self { reader, draft } = self;
        if draft.is_done() {
            return None;
        }
        let logits = reader.predict(draft.unread());
        let id = logits.and_then(|mut logits| draft.choose(&mut logits));
        draft.has_failed = id.is_err();
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts what it reads, and fails at the fifth token.
    struct Counter(usize);

    impl Predict for Counter {
        fn predict(&mut self, ids: &[usize]) -> Result<Vec<f64>> {
            self.0 += ids.len();
            match self.0 < 5 {
                true => Ok((0..9).map(|id| f64::from(u8::from(id == self.0))).collect()),
                false => Err(Error::Temperature { found: 0.0 }),
            }
        }
    }

    #[test]
    fn a_writer_reads_each_token_once_and_stops_at_an_error() {
        let writer = Writer::new(Counter(0), &[7, 7], Choice::greedy());
        let found: Vec<_> = writer.map(Result::ok).collect();
        assert_eq!(found, [Some(2), Some(3), Some(4), None]);
        assert_eq!(Writer::new(Counter(0), &[], Choice::greedy()).count(), 0);
    }

    #[test]
    fn a_draft_stops_at_an_end_or_when_it_is_long_enough() {
        let draft = Draft::new(&[7, 7], Choice::greedy());
        let ends = Generation { ends: vec![3], ..Generation::default() };
        for (draft, ids, has_ended) in [
            (draft.clone().up_to(1), &[2][..], false),
            (draft.clone().up_to(0), &[], false),
            (draft.keeping_to(ends), &[2, 3], true),
        ] {
            let draft = Writer::of(Counter(0), draft).finish().unwrap();
            assert_eq!((draft.written(), draft.has_ended()), (ids, has_ended));
            assert_eq!(draft.ids()[..2], [7, 7]);
        }
    }
}
