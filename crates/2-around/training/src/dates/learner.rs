//! How a [`DateConverter`] learns: embeddings, encoder, decoder and unembedding together.

use attention::Batch;
use gradients::{Adam, Optimiser, cross_entropy, linear_backward};

use super::{DateConverter, DateTexts, N_SOURCE, N_TARGET, PartShares};
use crate::{Learner, Result};

/// A look at dates that it was not trained on.
#[derive(Debug, Clone, PartialEq)]
pub struct DateLook {
    /// The number of steps taken so far.
    pub step: usize,
    /// The loss of the last step; none before the first.
    pub loss: Option<f64>,
    /// The share of dates that are written without a mistake.
    pub whole: f64,
    /// Where the heads of the cross-attention look.
    pub shares: PartShares,
}

impl Learner for DateConverter {
    type Examples = DateTexts;
    type Look = DateLook;

    // Teacher forcing: before each letter stand the right ones, whatever it would have written.
    // ANCHOR: descend
    fn descend(&mut self, read: &DateTexts, adam: &mut Adam<f32>) -> Result<f32> {
        let encoded = self.encode(read)?;
        let memory = Batch::new(read.n_dates(), encoded.out().clone())?;
        let given = read.given();
        let decoded = self.decode(&given, &memory, read)?;
        let logits = self.unembedding.forward(decoded.out())?;
        let loss = cross_entropy(&logits, &read.target)?;

        let d_out = linear_backward(&self.unembedding, decoded.out(), &loss.gradient)?;
        let d_decoder = decoded.backward(&d_out.d_x)?;
        let d_encoder = encoded.backward(&d_decoder.d_memory)?;
        let d_target = self.target.backward(&given, N_TARGET, &d_decoder.d_y)?;
        let d_source = self.source.backward(&read.source, N_SOURCE, &d_encoder.d_x)?;

        let gradients = d_source.entries().into_iter().chain(d_target.entries());
        let gradients = gradients.chain(d_encoder.entries()).chain(d_decoder.entries());
        let gradients = gradients.chain(d_out.d_linear.entries());
        let parameters = self.source.entries_mut().into_iter();
        let parameters = parameters.chain(self.target.entries_mut());
        let parameters = parameters.chain(self.model.entries_mut());
        let parameters = parameters.chain(self.unembedding.entries_mut());
        adam.update(&mut parameters.zip(gradients).collect::<Vec<_>>())?;
        Ok(loss.value)
    }
    // ANCHOR_END: descend

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
