//! How well a model says what comes next.

use attention::{Attended, Mask, Matrix, MultiHeadAttention, Real};
use block::Layers;

use crate::Result;
use crate::decoders::Decoder;

/// So many tokens get their logits at once.
const ROWS: usize = 64;

impl<A: MultiHeadAttention<T>, T: Real> Decoder<A, T> {
    /// The loss of each token but the first, in nats: `−ln p(token i + 1)` after tokens
    /// 0 … i.
    ///
    /// No map is kept, so that a long text fits.
    ///
    /// # Shapes
    /// `[n_tokens − 1]`; the mask is for `[n_tokens, n_tokens]`, and must hide the future:
    /// nothing else does.
    ///
    /// # Errors
    /// As [`Embedding::forward`](crate::decoders::Embedding::forward); [`Error::Sizes`](crate::Error::Sizes) for a mask of
    /// another shape.
    pub fn losses(&self, ids: &[usize], mask: &Mask) -> Result<Vec<f64>> {
        let n = ids.len();
        let x = self.embedding.forward(ids, 0)?;
        mask.check(self.config.dims().n_heads(), n, n)?;
        let layers = self.through(x, |_, attention, x| {
            let Attended { out, .. } = attention.self_attend(x, mask)?;
            Ok(Attended { out, attn: Vec::new() })
        })?;
        self.losses_of(&layers, ids)
    }
}

impl<A, T: Real> Decoder<A, T> {
    /// The losses of a text whose pass is known.
    ///
    /// # Shapes
    /// As [`losses`](Self::losses); the last of `layers.hidden` is `[n_tokens, d_model]`.
    ///
    /// # Errors
    /// As [`logits`](Self::logits); [`Error::Sizes`](crate::Error::Sizes) for another
    /// number of tokens.
    pub fn losses_of(&self, layers: &Layers<T>, ids: &[usize]) -> Result<Vec<f64>> {
        let (n, out) = (ids.len(), layers.out());
        attention::Error::expect_length("the list of hidden states", n, out.nrows())?;
        let mut losses = Vec::with_capacity(n.saturating_sub(1));
        for first in (0..n.saturating_sub(1)).step_by(ROWS) {
            let rows = ROWS.min(n - 1 - first);
            let logits = self.logits(&out.rows(first, rows).into_owned())?;
            losses.extend(next_losses(&logits, &ids[first + 1..]));
        }
        Ok(losses)
    }
}

/// `ln Σ exp(logits_i) − logits_i[next_i]` per row i.
pub(crate) fn next_losses<T: Real>(logits: &Matrix<T>, next: &[usize]) -> Vec<f64> {
    let of_row = |(row, &id): (usize, &usize)| {
        let row = logits.row(row).map(|logit| logit.to_f64());
        let largest = row.max();
        largest + row.map(|logit| (logit - largest).exp()).sum().ln() - row[id]
    };
    next.iter().enumerate().take(logits.nrows()).map(of_row).collect()
}
