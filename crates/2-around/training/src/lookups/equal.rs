//! The lookups for a head that cannot choose: its shares are equal from the start.

use attention::{Batch, Matrix, Result, Rng};

use super::{Lookups, N_TOKENS};
use crate::one_layer::{Examples, Task};

/// The lookups with every share fixed: a head's output is the plain mean of its values.
///
/// Values are linear, so the mean of values is the value of the mean. So the sequence is
/// replaced by one token, the mean of those attended to; softmax gives it a share of 1.
#[derive(Debug, Clone, PartialEq)]
pub struct EqualShares {
    /// The sentences.
    pub task: Lookups,
    /// Which tokens get equal shares; the others get 0.
    pub over: Over,
}

/// Which tokens get equal shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Agent, object and place.
    Three,
    /// Every token of the sentence.
    All,
}

impl Task for EqualShares {
    fn targets(&self) -> &'static [&'static str] {
        self.task.targets()
    }

    fn d_model(&self) -> usize {
        self.task.d_model()
    }

    fn n_answers(&self) -> usize {
        self.task.n_answers()
    }

    fn draw(&self, n_examples: usize, rng: &mut Rng) -> Result<Examples> {
        let examples = self.task.draw(n_examples, rng)?;
        let shares = self.over.shares(&examples.planted);
        let means = (0..n_examples).map(|s| {
            let row = shares.row(s).map(|share| share as f32); // [1, n_tokens]
            row * examples.tokens.sequence(s)
        });
        let means = Matrix::from_rows(&means.collect::<Vec<_>>());
        Ok(Examples {
            tokens: Batch::new(n_examples, means)?,
            planted: vec![Matrix::from_element(n_examples, 1, 1.0); 3],
            names: vec!["mean".to_owned()],
            ..examples
        })
    }
}

impl Over {
    /// The share of each token, `[n_examples, n_tokens]`, from where the words stand.
    pub fn shares(self, planted: &[Matrix]) -> Matrix {
        let words: Matrix = planted.iter().sum();
        match self {
            Self::Three => words / planted.len() as f64,
            Self::All => words.map(|_| 1.0 / N_TOKENS as f64),
        }
    }
}
