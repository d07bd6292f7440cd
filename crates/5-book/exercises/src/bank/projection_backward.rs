//! Backwards through a projection: `dW = Xᵀ dY`, `db = Σ_t dY_t`, `dX = dY Wᵀ`.

use std::process::ExitCode;

use attention::{Linear, Matrix, Rng, SeedableRng};
use gradients::{LinearGradients, linear_backward};

use super::inputs;
use crate::{Case, Exercise, Mistake, Place, Section};

/// A projection with a bias, its tokens, and the gradient of what it made of them.
pub struct Input {
    linear: Linear,
    x: Matrix,
    d_y: Matrix,
}

/// The gradients of W, of b and of x.
type Gradients = (Matrix, Vec<f64>, Matrix);

impl Input {
    fn right(&self) -> Gradients {
        let gradients = linear_backward(&self.linear, &self.x, &self.d_y);
        let LinearGradients { d_linear, d_x } = gradients.expect("the sizes fit");
        let d_b = d_linear.bias.expect("there is a bias");
        (d_linear.weight, d_b.iter().copied().collect(), d_x)
    }

    fn with_d_w(&self, d_w: Matrix) -> Gradients {
        let (_, d_b, d_x) = self.right();
        (d_w, d_b, d_x)
    }

    fn with_d_b(&self, d_b: impl IntoIterator<Item = f64>) -> Gradients {
        let (d_w, _, d_x) = self.right();
        (d_w, d_b.into_iter().collect(), d_x)
    }

    fn with_d_x(&self, d_x: Matrix) -> Gradients {
        let (d_w, d_b, _) = self.right();
        (d_w, d_b, d_x)
    }

    fn n_tokens(&self) -> usize {
        self.x.nrows()
    }
}

/// What the reader writes: from a projection with `weight`, `[d_in, d_out]`, and `bias`,
/// `[d_out]`, from `x`, `[n_tokens, d_in]`, and `d_y`, `[n_tokens, d_out]`, the gradients
/// of the weight, of the bias and of `x`, each in the shape of what it belongs to.
pub type ProjectionBackward =
    fn(linear: &Linear, x: &Matrix, d_y: &Matrix) -> (Matrix, Vec<f64>, Matrix);

/// Checks an answer.
pub fn check(answer: ProjectionBackward) -> ExitCode {
    EXERCISE.check(move |Input { linear, x, d_y }| answer(linear, x, d_y))
}

const CHAPTER: &str = "the-backward-pass";
const PRODUCT: Section = Section::new(CHAPTER, "One product, and what its shapes force");
const WRONG: Section = Section::new(CHAPTER, "What people get wrong");

/// The exercise.
pub static EXERCISE: Exercise<Input, Gradients> = Exercise {
    name: "projection_backward",
    title: "A projection, backwards",
    read: PRODUCT,
    begin: "the three shapes: each gradient has the shape of what it belongs to. Which \
        product of two of X, W and dY, transposed where needed, has the shape of W?",
    print: "your three gradients and their shapes",
    passed: "Two products and one sum take a gradient back through a projection. A layer \
        has four of these.",
    cases,
    reference: Input::right,
    mistakes: &[
        Mistake {
            name: "transposes dW",
            does: "It computes dYᵀ X, which is the gradient of a weight that is stored \
                [out, in]",
            looks_right: "PyTorch's nn.Linear stores it so, and where W is square the shape \
                is right too",
            read: PRODUCT,
            answer: |input| input.with_d_w(input.d_y.transpose() * &input.x),
        },
        Mistake {
            name: "leaves X as it is in dW",
            does: "It computes X dY, in which the features of x meet the tokens of dY; but \
                every token should meet itself",
            looks_right: "Forward it is X W, and where all sizes are equal the shape is \
                right",
            read: PRODUCT,
            answer: |input| input.with_d_w(&input.x * &input.d_y),
        },
        Mistake {
            name: "multiplies by W and not by Wᵀ",
            does: "It computes dY W, in which the features of y meet the rows of W, and \
                those stand for the features of x",
            looks_right: "Forward it is W that a token is multiplied by, and a square W \
                fits either way",
            read: WRONG,
            answer: |input| input.with_d_x(&input.d_y * &input.linear.weight),
        },
        Mistake {
            name: "takes W for one that is stored [out, in]",
            does: "It computes dYᵀ X and dY W, as if forward it had been X Wᵀ",
            looks_right: "Both are right for PyTorch's nn.Linear, and with square matrices \
                both shapes are right too",
            read: WRONG,
            answer: |Input { linear, x, d_y }| {
                let d_b = d_y.row_sum().iter().copied().collect();
                (d_y.transpose() * x, d_b, d_y * &linear.weight)
            },
        },
        Mistake {
            name: "adds the bias in the backward pass",
            does: "It takes dY through the whole projection with its matrix transposed, and \
                what was added forward is added to dX",
            looks_right: "It is one call of `apply`, and a bias is small",
            read: PRODUCT,
            answer: |input| {
                let weight = input.linear.weight.transpose();
                let turned = Linear { weight, bias: input.linear.bias.clone() };
                input.with_d_x(turned.forward(&input.d_y).expect("d_y is d_out wide"))
            },
        },
        Mistake {
            name: "gives the bias the gradient of the last token alone",
            does: "Each token overwrites what the one before it left",
            looks_right: "It is the right loop with = where += belongs, and one token \
                alone does not show it",
            read: PRODUCT,
            answer: |input| {
                let last = input.d_y.row(input.n_tokens() - 1);
                input.with_d_b(last.iter().copied())
            },
        },
        Mistake {
            name: "averages the bias gradient over the tokens",
            does: "It divides the sum by the number of tokens; but every token moves the \
                loss by itself, and the ways add up",
            looks_right: "A mean over tokens is what many losses are; but that mean is in \
                dY already",
            read: WRONG,
            answer: |input| {
                let mean = |feature: f64| feature / input.n_tokens() as f64;
                input.with_d_b(input.right().1.into_iter().map(mean))
            },
        },
        Mistake {
            name: "averages the weight gradient over the tokens",
            does: "It divides dW by the number of tokens and db not; but every token \
                moves the loss by itself, and the ways add up",
            looks_right: "A mean over tokens is what many losses are; but that mean is \
                in dY already",
            read: WRONG,
            answer: |input| input.with_d_w(input.right().0 / input.n_tokens() as f64),
        },
        Mistake {
            name: "gives back the bias as its own gradient",
            does: "It returns b, which does not depend on dY at all",
            looks_right: "It has the right length, and for dW and dX some matrix of the \
                forward pass is needed; but b is only added, so its gradient is dY, \
                added up",
            read: PRODUCT,
            answer: |input| {
                let bias = input.linear.bias.as_ref().expect("there is a bias");
                input.with_d_b(bias.iter().copied())
            },
        },
        Mistake {
            name: "averages both gradients of the parameters over the tokens",
            does: "It divides dW and db by the number of tokens; but every token moves the \
                loss by itself, and the ways add up",
            looks_right: "A longer sequence should not make longer steps; but that is for \
                the loss to say, and what it said is in dY already",
            read: PRODUCT,
            answer: |input| {
                let n = input.n_tokens() as f64;
                let (d_w, d_b, d_x) = input.right();
                (d_w / n, d_b.into_iter().map(|d| d / n).collect(), d_x)
            },
        },
        Mistake {
            name: "adds up the features in the bias gradient",
            does: "It sums each row of dY, a number for each token, where a bias has a \
                number for each feature",
            looks_right: "With as many tokens as features it has the right length, and \
                “sum over the rows” can be read both ways",
            read: PRODUCT,
            answer: |input| input.with_d_b(input.d_y.row_iter().map(|row| row.sum())),
        },
        Mistake {
            name: "exchanges dW and dX",
            does: "It gives the gradient of the tokens first and that of the weight last",
            looks_right: "Both are right, and where all sizes are equal both have the \
                shape of the other",
            read: PRODUCT,
            answer: |input| {
                let (d_w, d_b, d_x) = input.right();
                (d_x, d_b, d_w)
            },
        },
    ],
    place: |_, Place { part, row, column }| match part {
        0 => format!("d_w, row {row}, column {column}"),
        1 => format!("d_w is right; d_b, entry {column}"),
        _ => format!("d_w and d_b are right; d_x, token {row}, feature {column}"),
    },
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_tokens: usize, d_in: usize, d_out: usize, seed: u64| {
        let rng = &mut Rng::seed_from_u64(seed);
        Case {
            sizes: format!("{n_tokens} tokens, d_in {d_in}, d_out {d_out}"),
            square: n_tokens == d_in && d_in == d_out,
            input: Input {
                linear: Linear::random(d_in, d_out, true, rng),
                x: inputs::matrix(n_tokens, d_in, seed + 1),
                d_y: inputs::matrix(n_tokens, d_out, seed + 2),
            },
        }
    };
    vec![case(3, 3, 3, 1), case(4, 2, 3, 4), case(2, 5, 4, 7)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bank::slopes;
    use crate::{Difference, Verdict};

    /// `Σ d_y · (x · W + b)`: its slopes are what is asked for.
    fn loss(d_y: &Matrix, x: &Matrix, w: &Matrix, b: &Matrix) -> f64 {
        let mut loss = 0.0;
        for t in 0..x.nrows() {
            for c in 0..w.ncols() {
                let y: f64 = (0..x.ncols()).map(|a| x[(t, a)] * w[(a, c)]).sum();
                loss += d_y[(t, c)] * (y + b[(0, c)]);
            }
        }
        loss
    }

    fn bias(linear: &Linear) -> Matrix {
        let bias = linear.bias.as_ref().unwrap();
        Matrix::from_row_slice(1, bias.len(), bias.as_slice())
    }

    #[test]
    fn central_differences_pass() {
        let nudged = |Input { linear, x, d_y }: &Input| {
            let (w, b) = (&linear.weight, &bias(linear));
            let d_b = slopes::of(b, |b| loss(d_y, x, w, b));
            (
                slopes::of(w, |w| loss(d_y, x, w, b)),
                d_b.iter().copied().collect(),
                slopes::of(x, |x| loss(d_y, x, w, b)),
            )
        };
        assert_eq!(EXERCISE.diagnose(nudged), Verdict::Passed);
    }

    #[test]
    fn products_turned_as_a_whole_in_f32_pass() {
        let in_f32 = |Input { linear, x, d_y }: &Input| {
            let [w, x, d_y] = [&linear.weight, x, d_y].map(|m| m.map(|x| x as f32));
            let d_b = d_y.row_sum().iter().map(|&d| f64::from(d)).collect();
            let (d_w, d_x) =
                ((d_y.transpose() * x).transpose(), (w * d_y.transpose()).transpose());
            (d_w.map(f64::from), d_b, d_x.map(f64::from))
        };
        assert_eq!(EXERCISE.diagnose(in_f32), Verdict::Passed);
    }

    #[test]
    fn a_sum_over_the_first_d_in_tokens_is_right_only_for_equal_sizes() {
        let d_in_tokens = |input: &Input| {
            let (d_in, d_out) = input.linear.weight.shape();
            let sum = |c| (0..d_in).map(|t| input.d_y[(t, c)]).sum::<f64>();
            input.with_d_b((0..d_out).map(sum).collect::<Vec<_>>())
        };
        let verdict = EXERCISE.diagnose(d_in_tokens);
        assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
    }

    #[test]
    fn a_panic_is_told_and_not_guessed_at() {
        let verdict =
            EXERCISE.diagnose(|input| input.with_d_w(input.x.columns(1, 9) * &input.d_y));
        let Verdict::Unknown { difference: Difference::Panic { .. }, .. } = verdict
        else {
            panic!("{verdict:?}");
        };
    }
}
