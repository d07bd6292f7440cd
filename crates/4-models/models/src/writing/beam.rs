//! Beam search: the likeliest text, and not the likeliest token each time.

use std::cmp::Ordering;

use crate::{Error, Result};

/// How a beam search goes on with a text.
///
/// The most likely token now can lead to unlikely ones: what greedy writing gives is seldom the
/// most likely text. A beam search keeps `width` texts. Each is continued with every token, and
/// the `width` most likely continuations are kept, by the sum of their log-chances. A text that
/// ends is put aside. Since every token makes the sum smaller, finished texts are compared by
///
/// ```text
/// score = Σ log p(token | all before it) / lengthᵅ
/// ```
///
/// where the length counts the tokens that were written, an end among them. At α = 0 the most
/// likely text wins, which is often the shortest; at α = 1 it is the mean of the log-chances.
///
/// The cost: `width` texts are read, each by a token a step, and their caches are copied
/// wherever two of them go on from one. With a function of whole texts instead of a cache, a
/// step reads all tokens of all of them.
///
/// ```
/// use models::BeamSearch;
///
/// // Behind 0, token 1 is a little more likely than 2; but only 2 has a sure next.
/// let model = |text: &[usize]| {
///     let chances: [f64; 4] = match text[text.len() - 1] {
///         0 => [0.0, 0.6, 0.4, 0.0],
///         1 => [0.0, 0.3, 0.3, 0.4],
///         _ => [0.0, 0.0, 0.0, 1.0],
///     };
///     Ok(chances.map(f64::ln).to_vec())
/// };
/// let search = |width| {
///     let beams = BeamSearch { width, most: 2, ends: vec![], alpha: 0.0 };
///     // What is kept of a text is the text, and all of it is read at each step.
///     beams.search(&[0], Vec::new(), |text: &mut Vec<usize>, new| {
///         text.extend(new);
///         model(text)
///     })
/// };
/// let (greedy, best) = (search(1)?, search(2)?);
/// assert_eq!((&greedy[0].ids[..], &best[0].ids[..]), (&[1, 3][..], &[2, 3][..]));
/// assert!((greedy[0].score.exp() - 0.6 * 0.4).abs() < 1e-12);
/// assert!((best[0].score.exp() - 0.4).abs() < 1e-12);
/// # Ok::<(), models::Error>(())
/// ```
///
/// # Source
/// Sutskever et al. 2014, section 3.2; Wu et al. 2016, section 7, divide by a length. The steps
/// are those of transformers' `generate` with `early_stopping="never"`, whose numbers a test
/// compares: an end counts if its text is among the `width` best continuations, and the search
/// stops once no unfinished text can get a better score. (Its default stops earlier, by a
/// guess.) At `width` 1 and α = 0 it is greedy writing.
#[derive(Debug, Clone, PartialEq)]
pub struct BeamSearch {
    /// How many texts are kept, and given at last.
    pub width: usize,
    /// How many tokens are written at most.
    pub most: usize,
    /// The tokens that end a text.
    pub ends: Vec<usize>,
    /// α, the power of the length: more is better for long texts.
    pub alpha: f64,
}

/// A text that a beam search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Beam {
    /// The tokens that were written, an end among them.
    pub ids: Vec<usize>,
    /// The sum of their log-chances.
    pub log_chance: f64,
    /// This sum divided by the length to the power α.
    pub score: f64,
    /// Whether the last token is an end; else it is as long as it may be.
    pub has_ended: bool,
}

/// A text that goes on, with what is kept of what was read.
#[derive(Debug, Clone)]
struct Running<C> {
    ids: Vec<usize>,
    log_chance: f64,
    cache: C,
}

/// A token behind one of the running texts.
#[derive(Debug, Clone, Copy)]
struct Continuation {
    text: usize,
    id: usize,
    log_chance: f64,
}

impl BeamSearch {
    /// The best texts behind `text`, the best first: as many as are kept, or fewer where fewer
    /// can be written.
    ///
    /// `read` gives the logits behind its tokens, which follow all those that this cache was
    /// given before: the keys and values of a model, or the text itself for a function of whole
    /// texts. A logit of minus infinity is a token that is never written.
    ///
    /// # Shapes
    /// `read` gives `[n_vocabulary]`.
    ///
    /// # Errors
    /// [`Error::BeamWidth`]; [`Error::LengthPenalty`]; [`Error::Logits`]; as `read`.
    // ANCHOR: search
    pub fn search<C: Clone>(
        &self,
        text: &[usize],
        cache: C,
        mut read: impl FnMut(&mut C, &[usize]) -> Result<Vec<f64>>,
    ) -> Result<Vec<Beam>> {
        self.check()?;
        let mut running = vec![Running { ids: Vec::new(), log_chance: 0.0, cache }];
        let mut finished: Vec<Beam> = Vec::new();
        for n_written in 1..=self.most {
            let mut all = Vec::new();
            for (nth, it) in running.iter_mut().enumerate() {
                let unread = it.ids.last().map_or(text, std::slice::from_ref);
                let log_chances = log_softmax(read(&mut it.cache, unread)?)?;
                all.extend(continuations(nth, it.log_chance, &log_chances));
            }
            let mut next = Vec::new();
            for (rank, it) in self.likeliest(all).into_iter().enumerate() {
                let has_ended = self.ends.contains(&it.id);
                match has_ended || n_written == self.most {
                    true if rank < self.width => {
                        finished.push(self.finish(&running[it.text].ids, it, has_ended));
                    }
                    false if next.len() < self.width => next.push(it),
                    _ => {}
                }
            }
            finished.sort_by(|a, b| b.score.total_cmp(&a.score));
            finished.truncate(self.width);
            running = next.iter().map(|it| running[it.text].with(it)).collect();
            if self.is_decided(&running, &finished) {
                break;
            }
        }
        Ok(finished)
    }
    // ANCHOR_END: search

    fn check(&self) -> Result<()> {
        let Self { width, alpha, .. } = *self;
        match (width > 0, alpha.is_finite()) {
            (false, _) => Err(Error::BeamWidth { found: width }),
            (_, false) => Err(Error::LengthPenalty { found: alpha }),
            _ => Ok(()),
        }
    }

    /// The likeliest continuations, the likeliest first, and so many that enough of them are no
    /// ends: each text has one with each end.
    fn likeliest(&self, mut all: Vec<Continuation>) -> Vec<Continuation> {
        let n = self.width.saturating_mul(1 + self.ends.len());
        if n < all.len() {
            all.select_nth_unstable_by(n, Continuation::order);
            all.truncate(n);
        }
        all.sort_unstable_by(Continuation::order);
        all
    }

    /// The score of a sum of log-chances.
    fn score(&self, log_chance: f64, length: usize) -> f64 {
        log_chance / (length as f64).powf(self.alpha)
    }

    fn finish(&self, before: &[usize], last: Continuation, has_ended: bool) -> Beam {
        let ids: Vec<usize> = before.iter().copied().chain([last.id]).collect();
        let score = self.score(last.log_chance, ids.len());
        Beam { ids, log_chance: last.log_chance, score, has_ended }
    }

    /// Whether no running text can become better than the worst that is finished: its sum only
    /// falls, and the length that divides it is at best the longest for α above 0, else its own.
    fn is_decided<C>(&self, running: &[Running<C>], finished: &[Beam]) -> bool {
        let Some(best) = running.first() else { return true };
        let length = if self.alpha > 0.0 { self.most } else { best.ids.len() };
        let worst = finished.get(self.width - 1);
        worst.is_some_and(|worst| self.score(best.log_chance, length) <= worst.score)
    }
}

impl<C: Clone> Running<C> {
    /// The same text with a token more.
    fn with(&self, next: &Continuation) -> Self {
        let ids = self.ids.iter().copied().chain([next.id]).collect();
        Self { ids, log_chance: next.log_chance, cache: self.cache.clone() }
    }
}

impl Continuation {
    /// The likelier first; of equal ones the likelier text, and the lower id.
    fn order(a: &Self, b: &Self) -> Ordering {
        let place = |it: &Self| (it.text, it.id);
        b.log_chance.total_cmp(&a.log_chance).then(place(a).cmp(&place(b)))
    }
}

/// Text `text`, whose sum is `before`, with every token that can follow.
fn continuations(
    text: usize,
    before: f64,
    log_chances: &[f64],
) -> impl Iterator<Item = Continuation> {
    let all = log_chances.iter().enumerate();
    let possible = all.filter(|(_, chance)| **chance > f64::NEG_INFINITY);
    possible.map(move |(id, log)| Continuation { text, id, log_chance: before + log })
}

/// logᵢ − log Σ exp(logits), behind the largest.
fn log_softmax(mut logits: Vec<f64>) -> Result<Vec<f64>> {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Minus infinity is a token that never comes, unless all are.
    let is_none = |logit: &&f64| !(logit.is_finite() || **logit < largest);
    let found = logits.iter().filter(is_none).count();
    if found > 0 || logits.is_empty() {
        return Err(Error::Logits { found, n_logits: logits.len() });
    }
    let sum: f64 = logits.iter().map(|logit| (logit - largest).exp()).sum();
    let log_sum = largest + sum.ln();
    logits.iter_mut().for_each(|logit| *logit -= log_sum);
    Ok(logits)
}

#[cfg(test)]
mod tests;
