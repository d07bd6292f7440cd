//! Of the chapter on learning.

use std::process::ExitCode;

use attention::Matrix;

use super::random;
use crate::{Answer, Case, Exercise, Place, arrays};

/// Cross-entropy of logits with the right classes, and its gradient.
pub mod cross_entropy {
    use super::*;

    /// A row of logits for each token, and the right class of each.
    pub struct Input {
        logits: Matrix,
        classes: Vec<usize>,
    }

    arrays!(Input: logits, classes);

    /// The loss, then the gradient of the logits.
    type LossAndGradient = (f64, Matrix);

    impl Answer for LossAndGradient {
        fn parts(&self) -> Vec<Matrix> {
            vec![Matrix::from_element(1, 1, self.0), self.1.clone()]
        }

        fn label(part: usize, _: usize) -> String {
            ["the loss", "d_logits"][part].into()
        }
    }

    pub(crate) static EXERCISE: Exercise<Input, LossAndGradient> =
        Exercise::new("cross_entropy", cases, place);

    /// Checks what gives, from `logits`, `[n_tokens, n_classes]`, and the right class of each
    /// token, the loss and the gradient of the logits, `[n_tokens, n_classes]`.
    pub fn check(
        answer: fn(logits: &Matrix, classes: &[usize]) -> (f64, Matrix),
    ) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.logits, &input.classes))
    }

    fn place(_: &Input, Place { part, row, column }: Place) -> String {
        match part {
            0 => "the loss".into(),
            _ => format!("the loss is right; d_logits, token {row}, class {column}"),
        }
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |classes: &[usize], n_classes: usize, note: &str, own: u64| {
            let n_tokens = classes.len();
            let tokens = if n_tokens == 1 { "token" } else { "tokens" };
            Case {
                sizes: format!("{n_tokens} {tokens}, {n_classes} classes{note}"),
                square: n_tokens == n_classes,
                input: Input {
                    logits: random::matrix(n_tokens, n_classes, seed + own),
                    classes: classes.to_vec(),
                },
            }
        };
        let note = "; the logits of token 0 are near 1000, of token 1 near −1000, and the \
            right one of token 2 is 2000 below the largest";
        let mut far = case(&[1, 0, 2], 4, note, 4);
        far.input.logits.row_mut(0).add_scalar_mut(1000.0);
        far.input.logits.row_mut(1).add_scalar_mut(-1000.0);
        far.input.logits[(2, 0)] += 2000.0;
        let note = "; the right logit of token 0 is 2000 above the others";
        let mut sure = case(&[1, 0], 4, note, 5);
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
}
