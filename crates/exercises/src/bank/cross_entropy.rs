//! Cross-entropy of logits with the right classes, and its gradient.

use std::process::ExitCode;

use attention::{Matrix, softmax_rows};

use super::{exponentials, inputs};
use crate::{Answer, Case, Exercise, Mistake, Place, Section};

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

const CLASS: Section = Section::new("10-learning", "When the answer is a class");
const ROWS: Section = Section::new("02-scores-softmax-scale", "From scores to shares");
const HUGE: Section = Section::new("08-bad-numbers", "Huge scores");

/// The exercise.
pub static EXERCISE: Exercise<Input, LossAndGradient> = Exercise {
    name: "22_cross_entropy",
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
    mistakes: &[
        Mistake {
            name: "subtracts 1 from every share",
            does: "It pushes every logit up, as if every class were right; only the right \
                class has a 1 to be compared with",
            looks_right: "In the column of the right class it is right",
            read: CLASS,
            answer: |input| input.with_gradient(|p, _| p - 1.0),
        },
        Mistake {
            name: "never subtracts the 1 of the right class",
            does: "The gradient is the shares themselves, so every logit is pushed down, \
                the right one too",
            looks_right: "For every wrong class it is right",
            read: CLASS,
            answer: |input| input.with_gradient(|p, _| p),
        },
        Mistake {
            name: "has the gradient's sign reversed",
            does: "It computes right minus predicted, and a step against this gradient makes \
                the right class less likely",
            looks_right: "Every size is right, and every row sums to 0",
            read: CLASS,
            answer: |input| input.with_gradient(|p, y| y - p),
        },
        Mistake {
            name: "leaves a factor p (1 − p) in the gradient",
            does: "It multiplies by the slope of a share once more. The logarithm cancels \
                that slope; with it, a class that was given almost nothing hardly learns",
            looks_right: "There is a softmax, and for a squared error such a factor stays",
            read: CLASS,
            answer: |input| input.with_gradient(|p, y| (p - y) * p * (1.0 - p)),
        },
        Mistake {
            name: "stops at the gradient of the shares",
            does: "It returns −1/p for the right class and 0 for the others, which is the \
                gradient of the shares; the step back through softmax is missing",
            looks_right: "It is the derivative of −ln p",
            read: CLASS,
            answer: |input| {
                input.with_gradient(|p, y| if y == 1.0 { -1.0 / p } else { 0.0 })
            },
        },
        Mistake {
            name: "sums over the tokens and takes no mean",
            does: "Loss and gradient are n times too large, so a larger batch takes larger \
                steps",
            looks_right: "With one token it is the same",
            read: CLASS,
            answer: |input| {
                let (loss, gradient) = input.right();
                (loss * input.n_tokens(), gradient * input.n_tokens())
            },
        },
        Mistake {
            name: "takes the mean in the loss and forgets it in the gradient",
            does: "The loss is divided by n and the gradient is not, so the gradient is that \
                of another loss",
            looks_right: "Each row of the gradient is right for its token alone",
            read: CLASS,
            answer: |input| {
                let (loss, gradient) = input.right();
                (loss, gradient * input.n_tokens())
            },
        },
        Mistake {
            name: "divides the gradient by the number of its entries",
            does: "It divides by tokens times classes; but a token has one loss, however \
                many classes there are",
            looks_right: "The mean squared error is a mean over all entries",
            read: CLASS,
            answer: |input| {
                let (loss, gradient) = input.right();
                let n_classes = gradient.ncols() as f64;
                (loss, gradient / n_classes)
            },
        },
        Mistake {
            name: "takes softmax without subtracting the maximum",
            does: "Logits of 1000 have exponentials of ∞, and ∞ / ∞ is NaN; with logits of \
                −1000 it is 0 / 0",
            looks_right: "It is the formula, and right for logits near 0",
            read: HUGE,
            answer: |input| input.by_shares(&exponentials::shares(&input.logits)),
        },
        Mistake {
            name: "subtracts the maximum of all tokens",
            does: "A token whose logits lie far below another's is left with exponentials \
                of 0, and comes out as NaN",
            looks_right: "Nothing overflows, and with one token it is right",
            read: HUGE,
            answer: |input| {
                let below = input.logits.add_scalar(-input.logits.max());
                input.by_shares(&exponentials::shares(&below))
            },
        },
        Mistake {
            name: "takes the logarithm of a share that is 0",
            does: "Where the right logit lies 1000 below the largest, its share is too small \
                for an f64 and becomes 0, and the loss is ∞ instead of 1000",
            looks_right: "The softmax subtracts its maximum, and every gradient is right",
            read: CLASS,
            answer: |input| input.by_shares(&softmax_rows(input.logits.clone())),
        },
        Mistake {
            name: "adds a small number inside the logarithm",
            does: "No loss can be larger than −ln of that number, about 20.7 for 1e-9. So a \
                token that is wrong beyond all measure counts like one that is just wrong",
            looks_right: "Nothing is ∞ any more, and small losses keep their digits",
            read: CLASS,
            answer: |input| {
                let shares = softmax_rows(input.logits.clone());
                input.with_loss(|t, c| -(shares[(t, c)] + 1e-9).ln())
            },
        },
        // The other number that is often seen.
        Mistake {
            name: "adds a small number inside the logarithm",
            does: "No loss can be larger than −ln of that number, about 27.6 for 1e-12. So a \
                token that is wrong beyond all measure counts like one that is just wrong",
            looks_right: "Nothing is ∞ any more, and small losses keep their digits",
            read: CLASS,
            answer: |input| {
                let shares = softmax_rows(input.logits.clone());
                input.with_loss(|t, c| -(shares[(t, c)] + 1e-12).ln())
            },
        },
        Mistake {
            name: "takes the logarithm of the logit",
            does: "It takes ln of the number that comes before softmax, which may be \
                negative, and then is NaN",
            looks_right: "The loss is minus a logarithm; but it is that of a share",
            read: CLASS,
            answer: |input| input.with_loss(|t, c| -input.logits[(t, c)].ln()),
        },
        Mistake {
            name: "leaves out the sum of the exponentials",
            does: "The loss is minus the right logit, and raising all logits alike would \
                lower it for nothing",
            looks_right: "The logarithm undoes the exponential; but softmax also divided by \
                the sum",
            read: CLASS,
            answer: |input| input.with_loss(|t, c| -input.logits[(t, c)]),
        },
        Mistake {
            name: "has the loss's sign reversed",
            does: "It returns the mean of ln p, which is below 0 and rises as the layer gets \
                better",
            looks_right: "Its size is right",
            read: CLASS,
            answer: |input| (-input.right().0, input.right().1),
        },
        Mistake {
            name: "takes logarithms to base 2",
            does: "The loss comes out in bits, 1.4427 times as large; the gradient belongs \
                to the natural logarithm",
            looks_right: "It is the unit of information, and falls when it should",
            read: CLASS,
            answer: |input| (input.right().0 / std::f64::consts::LN_2, input.right().1),
        },
        Mistake {
            name: "takes softmax twice",
            does: "It makes shares of the shares, which are all between 0 and 1, so even a \
                layer that is sure and right keeps a loss",
            looks_right: "Every row still sums to 1. In PyTorch it happens by handing shares \
                to CrossEntropyLoss, which takes logits",
            read: CLASS,
            answer: |input| {
                let shares = softmax_rows(input.logits.clone());
                input.by_shares(&softmax_rows(shares))
            },
        },
        Mistake {
            name: "takes softmax down the columns",
            does: "Each class shares itself out among the tokens; but a token shares itself \
                out among the classes",
            looks_right: "There is a softmax, and with as many tokens as classes nothing \
                about the shape is odd",
            read: ROWS,
            answer: |input| {
                input.by_shares(&softmax_rows(input.logits.transpose()).transpose())
            },
        },
        Mistake {
            name: "punishes every other class as well",
            does: "It adds −ln (1 − p) for each wrong class: one yes-or-no question for each \
                class, and not one choice among all",
            looks_right: "It is binary cross-entropy, and falls too when the right class \
                gains",
            read: CLASS,
            answer: |input| {
                let shares = softmax_rows(input.logits.clone());
                input.with_loss(|t, right| {
                    let others = (0..shares.ncols()).filter(|&c| c != right);
                    let others: f64 = others.map(|c| -(1.0 - shares[(t, c)]).ln()).sum();
                    others - shares[(t, right)].ln()
                })
            },
        },
    ],
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
    vec![
        case(&[2], 3, "", 1),
        case(&[0, 2, 2], 3, "", 2),
        case(&[1, 4, 0, 3, 1, 1], 5, "", 3),
        far,
    ]
}
