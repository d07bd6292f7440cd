//! How well the fast model says what comes next: what few bits cost.

use super::FastDecoder;
use crate::Result;
use crate::decoders::study::losses::next_losses;

/// So many tokens get their logits at once: as many as are not rounded.
const ROWS: usize = 8;

impl FastDecoder {
    /// The loss of each token but the first, in nats, of a text that is read in prompts of so
    /// many tokens: as [`Decoder::losses`](crate::decoders::Decoder::losses).
    ///
    /// # Shapes
    /// `[n_tokens − 1]`.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn losses(&mut self, ids: &[usize], at_once: usize) -> Result<Vec<f64>> {
        let mut caches = self.caches(ids.len());
        let mut losses = Vec::with_capacity(ids.len());
        for (nth, prompt) in ids.chunks(at_once.max(1)).enumerate() {
            let x = self.through(prompt, &mut caches, |_, _, _, _| Ok(()))?;
            let next = &ids[nth * at_once.max(1) + 1..];
            for first in (0..prompt.len().min(next.len())).step_by(ROWS) {
                let rows = ROWS.min(prompt.len().min(next.len()) - first);
                let logits = self.logits(&x.rows(first, rows).into_owned())?;
                losses.extend(next_losses(&logits, &next[first..]));
            }
        }
        Ok(losses)
    }
}
