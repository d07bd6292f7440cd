//! What there is to learn: examples, questions, right answers.

use attention::{Batch, Matrix, Result, Rng};
use gradients::{Loss, cross_entropy, mean_squared_error};

use crate::repeats::largest;

/// Something that one attention layer and one linear readout can be asked to learn.
///
/// An example is a sequence of tokens, one of which asks. The layer attends for that
/// token alone, and the readout takes what comes out to the answers of all targets. So
/// whatever an answer needs has to pass through the asking token's row of some head.
pub trait Task: Clone {
    /// The names of the targets, in the order of all answers and scores.
    fn targets(&self) -> &'static [&'static str];

    /// The width of a token.
    fn d_model(&self) -> usize;

    /// The width of the readout: all targets' logits, or numbers, side by side.
    fn n_answers(&self) -> usize;

    /// So many fresh examples.
    ///
    /// # Errors
    /// [`attention::Error`] for none.
    fn draw(&self, n_examples: usize, rng: &mut Rng) -> Result<Examples>;
}

/// Examples of a task, with what is right and where it stands.
#[derive(Debug, Clone)]
pub struct Examples {
    /// The sequences, `n_examples` times `[n_tokens, d_model]`.
    pub tokens: Batch<f32>,
    /// The token of each sequence that asks, `n_examples` times `[1, d_model]`.
    pub asking: Batch<f32>,
    /// What is right.
    pub answers: Answers,
    /// For each target the keys that hold its answer, as shares that sum to 1 along a
    /// row, `[n_examples, n_tokens]`. Training never sees them; maps are compared with
    /// them.
    pub planted: Vec<Matrix>,
    /// What the tokens of the first example are called, for a drawing of its map.
    pub names: Vec<String>,
}

/// The right answers, target by target.
#[derive(Debug, Clone, PartialEq)]
pub enum Answers {
    /// A class of each example, a list a target, out of `n_classes`.
    Classes {
        /// The number of classes of each target.
        n_classes: usize,
        /// `of_targets[r][s]` is the class of target r in example s.
        of_targets: Vec<Vec<usize>>,
    },
    /// A number of each example, `[n_examples, n_targets]`.
    Numbers(Matrix<f32>),
}

impl Answers {
    /// How wrong a readout is, and its gradient: the mean over targets of the
    /// cross-entropy, or the squared error.
    ///
    /// # Shapes
    /// `said` is `[n_examples, n_answers]`.
    ///
    /// # Errors
    /// As the two losses.
    pub fn loss(&self, said: &Matrix<f32>) -> Result<Loss<f32>> {
        let (n_classes, of_targets) = match self {
            Self::Numbers(right) => return mean_squared_error(said, right),
            Self::Classes { n_classes, of_targets } => (*n_classes, of_targets),
        };
        let share = 1.0 / of_targets.len() as f32;
        let mut all =
            Loss { value: 0.0, gradient: Matrix::zeros(said.nrows(), said.ncols()) };
        for (r, classes) in of_targets.iter().enumerate() {
            let logits = said.columns(r * n_classes, n_classes).into_owned();
            let one = cross_entropy(&logits, classes)?;
            all.value += share * one.value;
            all.gradient
                .columns_mut(r * n_classes, n_classes)
                .copy_from(&(one.gradient * share));
        }
        Ok(all)
    }

    /// What a score of such answers is called.
    pub fn score_name(&self) -> &'static str {
        match self {
            Self::Classes { .. } => "the share of right answers",
            Self::Numbers(_) => {
                "the share of the variance that is explained (the mean explains 0)"
            }
        }
    }

    /// How right a readout is, target by target; 1 is perfect.
    ///
    /// Of classes it is the accuracy. Of numbers it is R², the share of their variance
    /// that is explained: 0 is no better than always saying the mean, and worse than
    /// that is below 0.
    ///
    /// # Shapes
    /// `said` is `[n_examples, n_answers]`.
    pub fn scores(&self, said: &Matrix<f32>) -> Vec<f64> {
        match self {
            Self::Classes { n_classes, of_targets } => {
                let named = named_classes(said, *n_classes);
                let right = |(named, classes): (&Vec<usize>, &Vec<usize>)| {
                    let right = named.iter().zip(classes).filter(|(a, b)| a == b).count();
                    right as f64 / classes.len() as f64
                };
                named.iter().zip(of_targets).map(right).collect()
            }
            Self::Numbers(right) => {
                let (right, said) = (right.map(f64::from), said.map(f64::from));
                let both = right.column_iter().zip(said.column_iter());
                both.map(|(right, said)| explained(right.as_slice(), said.as_slice()))
                    .collect()
            }
        }
    }
}

/// The share of the variance of what is right that is explained by what was said.
fn explained(right: &[f64], said: &[f64]) -> f64 {
    let (mean, square) = (mean(right), |d: f64| d * d);
    let left: f64 = right.iter().zip(said).map(|(a, b)| square(a - b)).sum();
    let all: f64 = right.iter().map(|a| square(a - mean)).sum();
    1.0 - left / all
}

/// The mean of some numbers.
pub(crate) fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// The mean of some numbers, and their standard deviation.
pub(crate) fn spread(numbers: &[f64]) -> (f64, f64) {
    let middle = mean(numbers);
    let squares = numbers.iter().map(|x| (x - middle) * (x - middle));
    (middle, mean(&squares.collect::<Vec<_>>()).sqrt())
}

/// The class with the largest logit, target by target and example by example.
pub(crate) fn named_classes(said: &Matrix<f32>, n_classes: usize) -> Vec<Vec<usize>> {
    let of_target =
        |r: usize| largest(&said.columns(r * n_classes, n_classes).into_owned());
    (0..said.ncols() / n_classes).map(of_target).collect()
}
