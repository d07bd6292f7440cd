//! Cross-entropy of logits with the right classes, and its gradient.

use std::process::ExitCode;

use attention::{Matrix, softmax_rows};

use super::inputs;
use crate::{Answer, Case, Exercise, Place, Section};

mod mistakes;
#[cfg(test)]
mod tests;

/// A row of logits for each token, and the right class of each.
pub struct Input {
    logits: Matrix,
    classes: Vec<usize>,
}

/// The loss, and the gradient of the logits.
type LossAndGradient = (f64, Matrix);

impl Input {
    fn right(&self) -> LossAndGradient {
        let loss = gradients::cross_entropy(&self.logits, &self.classes);
        let loss = loss.expect("every class has its logit");
        (loss.value, loss.gradient)
    }

    fn n_tokens(&self) -> f64 {
        self.logits.nrows() as f64
    }

    /// The mean of one number for each token: `of(t, c)`, where c is the right class of t.
    fn mean(&self, of: impl Fn(usize, usize) -> f64) -> f64 {
        let terms = self.classes.iter().enumerate().map(|(t, &c)| of(t, c));
        terms.sum::<f64>() / self.n_tokens()
    }

    /// The loss of token t if c were its right class.
    fn token_loss(&self, t: usize, c: usize) -> f64 {
        let row = self.logits.row(t);
        let largest = row.max();
        largest + row.map(|logit| (logit - largest).exp()).sum().ln() - row[c]
    }

    /// The right loss, with `of(p, y) / n` for each entry of the gradient: its share, and
    /// 1 in the right class, 0 elsewhere.
    fn with_gradient(&self, of: impl Fn(f64, f64) -> f64) -> LossAndGradient {
        (self.right().0, self.gradient(&softmax_rows(self.logits.clone()), of))
    }

    fn gradient(&self, shares: &Matrix, of: impl Fn(f64, f64) -> f64) -> Matrix {
        Matrix::from_fn(shares.nrows(), shares.ncols(), |t, c| {
            let y = if self.classes[t] == c { 1.0 } else { 0.0 };
            of(shares[(t, c)], y) / self.n_tokens()
        })
    }

    /// What a loss and a gradient of these shares would be, by the formula.
    fn by_shares(&self, shares: &Matrix) -> LossAndGradient {
        let loss = self.mean(|t, c| -shares[(t, c)].ln());
        (loss, self.gradient(shares, |p, y| p - y))
    }

    fn with_loss(&self, of: impl Fn(usize, usize) -> f64) -> LossAndGradient {
        (self.mean(of), self.right().1)
    }
}

/// The loss, then the gradient of the logits.
impl Answer for LossAndGradient {
    fn parts(&self) -> Vec<Matrix> {
        vec![Matrix::from_element(1, 1, self.0), self.1.clone()]
    }

    fn part_name(&self, part: usize) -> String {
        ["the loss", "d_logits"][part].into()
    }
}

/// What the reader writes: from `logits`, `[n_tokens, n_classes]`, and the right class of
/// each token, the loss and the gradient of the logits, `[n_tokens, n_classes]`.
pub type CrossEntropy = fn(logits: &Matrix, classes: &[usize]) -> (f64, Matrix);

/// Checks an answer.
pub fn check(answer: CrossEntropy) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.logits, &input.classes))
}

const CLASS: Section = Section::new("learning", "When the answer is a class");

/// The exercise.
pub static EXERCISE: Exercise<Input, LossAndGradient> = Exercise {
    name: "cross_entropy",
    title: "Cross-entropy",
    read: CLASS,
    begin: "one token with three small logits: its shares, and minus the logarithm of the \
        share of the right class. Then ask what happens if that share is too small for \
        an f64",
    print: "one row: its logits, its shares and its right class",
    passed: "The loss stays finite however wrong the logits are, and each row of the \
        gradient sums to 0: what the right class gains, the others lose.",
    cases,
    reference: Input::right,
    mistakes: mistakes::ALL,
    place: |_, Place { part, row, column }| match part {
        0 => "the loss".into(),
        _ => format!("the loss is right; d_logits, token {row}, class {column}"),
    },
};

fn cases() -> Vec<Case<Input>> {
    let case = |classes: &[usize], n_classes: usize, note: &str, seed: u64| {
        let n_tokens = classes.len();
        let tokens = if n_tokens == 1 { "token" } else { "tokens" };
        Case {
            sizes: format!("{n_tokens} {tokens}, {n_classes} classes{note}"),
            square: n_tokens == n_classes,
            input: Input {
                logits: inputs::matrix(n_tokens, n_classes, seed),
                classes: classes.to_vec(),
            },
        }
    };
    let mut far = case(
        &[1, 0, 2],
        4,
        "; the logits of token 0 are near 1000, of token 1 near \
        −1000, and the right one of token 2 is 2000 below the largest",
        4,
    );
    far.input.logits.row_mut(0).add_scalar_mut(1000.0);
    far.input.logits.row_mut(1).add_scalar_mut(-1000.0);
    far.input.logits[(2, 0)] += 2000.0;
    let mut sure =
        case(&[1, 0], 4, "; the right logit of token 0 is 2000 above the others", 5);
    sure.input.logits[(0, 1)] += 2000.0;
    sure.input.logits[(1, 0)] = 0.7;
    vec![
        case(&[2], 3, "", 1),
        case(&[0, 2, 2], 3, "", 2),
        case(&[1, 4, 0, 3, 1, 1], 5, "", 3),
        far,
        sure,
    ]
}
