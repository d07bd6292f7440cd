//! How well names are guessed, by a forward pass alone.

use attention::{Batch, Error, Mask, Result};
use block::StackPass;
use gradients::cross_entropy;

use crate::Model;
use crate::blocks::Padded;

impl Model {
    /// The mean loss of all letters and ends of some names, as a [rung] gives it beside the
    /// gradients.
    ///
    /// # Errors
    /// [`Error`] for no names, and for one of no letters, of too many, or with an id that is no
    /// letter's.
    ///
    /// [rung]: crate::Rung::gradients
    pub fn loss(&self, names: &[Vec<usize>]) -> Result<f64> {
        Error::expect_positive("the number of names", names.len())?;
        for name in names {
            let what = "the number of letters and ends to be guessed";
            Error::expect_positive(what, name.len().saturating_sub(1))?;
        }
        let Padded { n_names, length, ids, rows, targets } = Padded::of(names);
        let x = Batch::new(n_names, self.embedding.forward(&ids, length)?)?;
        let pass = StackPass::forward(&self.stack, &x, &[Mask::Causal])?;
        let out = pass.out().select_rows(&rows);
        let logits = out * self.embedding.tokens.transpose();
        Ok(cross_entropy(&logits, &targets)?.value)
    }
}

#[cfg(test)]
mod tests {
    use attention::{Rng, SeedableRng};

    use super::*;
    use crate::{Architecture, NAMES, Rung, scalars};

    #[test]
    fn it_is_the_loss_that_a_rung_gives() {
        let sizes = Architecture { n_blocks: 2, ..Architecture::SMALL };
        let parameters = sizes.parameters(&mut Rng::seed_from_u64(1));
        let names: Vec<_> = NAMES.lines().step_by(100).map(scalars::ids).collect();
        let model = Model::new(sizes, &parameters).unwrap();
        let (loss, _) = Rung::BATCH.gradients(sizes, &parameters, &names).unwrap();
        assert!((model.loss(&names).unwrap() - loss).abs() < 1e-12);
    }

    #[test]
    fn names_that_cannot_be_guessed_are_refused() {
        let sizes = Architecture::SMALL;
        let model = Model::new(sizes, &sizes.parameters(&mut Rng::seed_from_u64(1)));
        let model = model.unwrap();
        let long = [vec![0], vec![1; 17]].concat();
        for names in [vec![], vec![vec![]], vec![vec![0]], vec![long], vec![vec![0, 27]]]
        {
            assert!(model.loss(&names).is_err(), "{names:?}");
        }
    }
}
