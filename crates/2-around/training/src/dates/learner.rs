//! How a [`DateConverter`] learns: embeddings, encoder, decoder and unembedding together.

use attention::{Batch, Linear, Result};
use block::{Embedding, StackGradients};
use gradients::{Adam, Optimiser, cross_entropy, linear_backward};

use super::{DateConverter, DateTexts, N_SOURCE, N_TARGET, PartShares};
use crate::Learner;

/// A look at dates that it was not trained on.
#[derive(Debug, Clone, PartialEq)]
pub struct DateLook<S = PartShares> {
    /// The number of steps taken so far.
    pub step: usize,
    /// The loss of the last step; none before the first.
    pub loss: Option<f64>,
    /// The share of dates that are written without a mistake.
    pub whole: f64,
    /// Where the heads of the cross-attention look, or those of each block from the letters
    /// that are written.
    pub shares: S,
}

impl Learner for DateConverter {
    type Examples = DateTexts;
    type Look = DateLook;

    fn descend(&mut self, read: &DateTexts, adam: &mut Adam<f32>) -> Result<f32> {
        let (loss, gradients) = self.gradients(read, None)?;
        adam.step_entries(self, &gradients)?;
        Ok(loss)
    }

    fn look(&self, test: &DateTexts, losses: &[f64], _: usize) -> Result<DateLook> {
        Ok(DateLook {
            step: losses.len(),
            loss: losses.last().copied(),
            whole: self.whole(test)?,
            shares: self.shares(test, &(0..test.n_dates()).collect::<Vec<_>>())?,
        })
    }

    fn score(look: &DateLook) -> f64 {
        look.whole
    }
}

/// The gradients of all that a [`DateConverter`] holds: embeddings, encoder and decoder,
/// unembedding.
type DateGradients = ([Embedding<f32>; 2], [StackGradients<f32>; 2], Linear<f32>);

gradients::entries!([] f32, DateConverter: source, target, model, unembedding);

impl DateConverter {
    // Teacher forcing: before each letter stand the right ones, whatever it would have written.
    /// The loss and its gradients; with an order, letter r gets what letter `order[r]` reads.
    pub(super) fn gradients(
        &self,
        read: &DateTexts,
        order: Option<&[usize]>,
    ) -> Result<(f32, DateGradients)> {
        let encoded = self.encode(read)?;
        let memory = Batch::new(read.n_dates(), encoded.out().clone())?;
        let decoded = self.decode_moved(&read.given(), &memory, read, order)?;
        let logits = self.unembedding.forward(decoded.out())?;
        let loss = cross_entropy(&logits, &read.target)?;

        let d_out = linear_backward(&self.unembedding, decoded.out(), &loss.gradient)?;
        let decoder = decoded.backward(&d_out.d_x)?;
        let encoder = encoded.backward(decoder.d_memory()?)?;
        let target = self.target.backward(&read.given(), N_TARGET, decoder.d_x())?;
        let source = self.source.backward(&read.source, N_SOURCE, encoder.d_x())?;
        Ok((loss.value, ([source, target], [encoder, decoder], d_out.d_linear)))
    }
}
