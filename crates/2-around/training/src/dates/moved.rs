//! The control of a model whose letters cannot keep to themselves what they read.
//!
//! ```text
//! row 0 (for "2") ──▶ queries ──▶ maps ──▶ output ─╲ ╱─▶ row 0
//! row 1 (for "0") ──▶ queries ──▶ maps ──▶ output ─╱ ╲─▶ row 1      a new order each time
//! ```
//!
//! Permuting what comes out of an attention is permuting its queries, so the queries are
//! permuted, and all maps stay as they would be, in another order. The residual stays where
//! it was. A row can learn of letters that come after it, by the weights of another row: the
//! control has more to go by than the model, and not less.

use attention::{Result, Rng};
use gradients::{Adam, Optimiser};
use rand::seq::SliceRandom;

use super::{DateConverter, DateLook, DateTexts, N_TARGET};
use crate::Learner;
use crate::repeats::largest;

/// The ten letters of each date in a random order, `[n_dates · N_TARGET]`.
pub(super) fn random_order(n_dates: usize, rng: &mut Rng) -> Vec<usize> {
    let of_date = |date: usize| {
        let mut rows: Vec<usize> = (date * N_TARGET..(date + 1) * N_TARGET).collect();
        rows.shuffle(rng);
        rows
    };
    (0..n_dates).flat_map(of_date).collect()
}

impl DateConverter {
    /// The share of dates all of whose letters are right while the right ones are given and
    /// the rows of the cross-attention's output are permuted among the letters of each date.
    /// Without a generator of random numbers they stay where they are.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn whole_moved(&self, texts: &DateTexts, rng: Option<&mut Rng>) -> Result<f64> {
        let order = rng.map(|rng| random_order(texts.n_dates(), rng));
        let memory = self.memory(texts)?;
        let given = texts.given();
        let pass = self.decode(&given, &memory, texts, order.as_deref())?;
        Ok(texts.whole(&largest(&self.unembedding.forward(pass.out())?)))
    }
}

/// A [`DateConverter`] that is trained with the rows of its cross-attention's output permuted
/// among the letters of each date, in a fresh order for each date at each step.
#[derive(Debug, Clone)]
pub struct MovedConverter {
    /// What is trained. It is looked at, and writes, with all rows where they are.
    pub converter: DateConverter,
    /// Where the orders come from.
    pub rng: Rng,
}

impl Learner for MovedConverter {
    type Examples = DateTexts;
    type Look = DateLook;

    fn descend(&mut self, read: &DateTexts, adam: &mut Adam<f32>) -> Result<f32> {
        let order = random_order(read.n_dates(), &mut self.rng);
        let (loss, gradients) = self.converter.gradients(read, Some(&order))?;
        adam.step_entries(&mut self.converter, &gradients)?;
        Ok(loss)
    }

    fn look(&self, test: &DateTexts, losses: &[f64], since: usize) -> Result<DateLook> {
        self.converter.look(test, losses, since)
    }

    fn score(look: &DateLook) -> f64 {
        look.whole
    }
}
