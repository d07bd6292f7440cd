//! Every token on its own scale: `gain ⊙ (x − mean) / √(var + eps) + bias`.

use std::process::ExitCode;

use attention::Matrix;
use block::LayerNorm;

use super::{inputs, places};
use crate::{Case, Exercise, Mistake, Section};

/// Tokens, and the norm for them.
#[derive(Clone)]
pub struct Input {
    x: Matrix,
    gain: Vec<f64>,
    bias: Vec<f64>,
    eps: f64,
}

impl Input {
    fn right(&self) -> Matrix {
        let [gain, bias] = [&self.gain, &self.bias].map(|it| it.clone().into());
        let norm = LayerNorm::new(gain, bias, self.eps).expect("as many biases as gains");
        norm.forward(&self.x).expect("a gain for each feature")
    }

    /// The right norm, with another divisor: `of(variance, n)` of each token.
    fn divided(&self, of: impl Fn(f64, f64) -> f64) -> Matrix {
        let n = self.x.ncols() as f64;
        self.each(&self.x, |token| {
            let (mean, variance) = moments(token);
            let divisor = of(variance, n);
            token.iter().map(|x| (x - mean) / divisor).collect()
        })
    }

    /// Gain and bias for what `of` makes of each token.
    fn each(&self, x: &Matrix, of: impl Fn(&[f64]) -> Vec<f64>) -> Matrix {
        let mut out = x.clone();
        for (t, token) in x.row_iter().enumerate() {
            let token: Vec<f64> = token.iter().copied().collect();
            for (j, normed) in of(&token).into_iter().enumerate() {
                out[(t, j)] = self.gain[j] * normed + self.bias[j];
            }
        }
        out
    }

    /// With the mean and the variance that `of` takes of each entry's place.
    fn with_moments(&self, of: impl Fn(usize, usize) -> (f64, f64)) -> Matrix {
        Matrix::from_fn(self.x.nrows(), self.x.ncols(), |t, j| {
            let (mean, variance) = of(t, j);
            let normed = (self.x[(t, j)] - mean) / (variance + self.eps).sqrt();
            self.gain[j] * normed + self.bias[j]
        })
    }
}

/// The mean, and the variance around it.
fn moments(numbers: &[f64]) -> (f64, f64) {
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    (mean, numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n)
}

/// What the reader writes: from `x`, `[n_tokens, d_model]`, a gain and a bias for each
/// feature, and eps, the tokens normed, `[n_tokens, d_model]`.
pub type Norm = fn(x: &Matrix, gain: &[f64], bias: &[f64], eps: f64) -> Matrix;

/// Checks an answer.
pub fn check(answer: Norm) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.x, &input.gain, &input.bias, input.eps))
}

const NORM: Section = Section::new("the-block", "Layer norm and RMSNorm");
const WRONG: Section = Section::new("the-block", "What people get wrong");

/// One number that is often seen, or another.
const fn has_its_own_eps(answer: fn(&Input) -> Matrix) -> Mistake<Input, Matrix> {
    Mistake {
        name: "has an eps of its own",
        does: "It writes a number where `eps` belongs. Models differ in it, and weights that \
            were trained with one are read with another",
        looks_right: "1e-5 is what most models have, and at an ordinary scale nobody sees a \
            difference",
        read: NORM,
        answer,
    }
}

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "layer_norm",
    title: "Layer norm and RMSNorm",
    read: NORM,
    begin: "one token by hand: its mean, then the mean of the squared distances from it, \
        with a gain of 1 and a bias of 0",
    print: "one token: its entries, its mean and its variance",
    passed: "Each token has its own mean and its own spread, and a token of equal entries \
        becomes the bias.",
    cases,
    reference: Input::right,
    mistakes: &[
        Mistake {
            name: "takes mean and variance over the tokens",
            does: "It norms each feature over all tokens, so each token's output depends on \
                the others, and on padding too",
            looks_right: "It is a norm of the same matrix, along its other axis",
            read: WRONG,
            answer: |input| {
                input.with_moments(|_, j| {
                    moments(&input.x.column(j).iter().copied().collect::<Vec<_>>())
                })
            },
        },
        Mistake {
            name: "takes one mean and one variance for the whole matrix",
            does: "All tokens share one scale, so a loud token stays loud and a quiet one \
                quiet",
            looks_right: "With one token it is right",
            read: NORM,
            answer: |input| input.with_moments(|_, _| moments(input.x.as_slice())),
        },
        Mistake {
            name: "adds eps outside of the root",
            does: "It divides by √var + eps. For a token of small spread the two differ \
                greatly: eps is meant to be compared with the variance",
            looks_right: "Nothing is divided by 0, and tokens of ordinary scale come out \
                right",
            read: WRONG,
            answer: |input| input.divided(|variance, _| variance.sqrt() + input.eps),
        },
        Mistake {
            name: "leaves eps out",
            does: "A token of equal entries has a variance of 0, and 0 / 0 is NaN",
            looks_right: "For every other token the difference is hard to see",
            read: NORM,
            answer: |input| input.divided(|variance, _| variance.sqrt()),
        },
        Mistake {
            name: "divides the variance by n − 1",
            does: "It estimates the variance of a population from a sample. A norm needs the \
                token's own: the mean of its squared distances",
            looks_right: "It is the default of many libraries, and at a width of 384 the \
                outputs differ by about a thousandth",
            read: WRONG,
            answer: |input| {
                input.divided(|variance, n| (variance * n / (n - 1.0) + input.eps).sqrt())
            },
        },
        Mistake {
            name: "sums the squares and takes no mean",
            does: "It divides by the length of the centred token, so entries shrink as the \
                width grows",
            looks_right: "Every token then has a length of 1, which is a norm too",
            read: NORM,
            answer: |input| {
                input.divided(|variance, n| (variance * n + input.eps).sqrt())
            },
        },
        Mistake {
            name: "divides by the variance and not by its root",
            does: "A token that is ten times as large comes out ten times as small",
            looks_right: "At a variance near 1 there is little to see",
            read: NORM,
            answer: |input| input.divided(|variance, _| variance + input.eps),
        },
        Mistake {
            name: "does not subtract the mean",
            does: "It divides each token by the root of its mean square. That is another \
                norm, RMSNorm, which many newer models use, and it keeps a shift that \
                layer norm removes",
            looks_right: "With a mean of 0 the two are the same",
            read: NORM,
            answer: |input| {
                input.each(&input.x, |token| {
                    let n = token.len() as f64;
                    let square = token.iter().map(|x| x * x).sum::<f64>() / n;
                    token.iter().map(|x| x / (square + input.eps).sqrt()).collect()
                })
            },
        },
        Mistake {
            name: "subtracts the mean and divides by the root of the mean square",
            does: "It measures the spread around 0 and not around the mean, so a token that \
                is shifted comes out smaller",
            looks_right: "Both steps are there",
            read: NORM,
            answer: |input| {
                input.each(&input.x, |token| {
                    let (mean, variance) = moments(token);
                    let divisor = (variance + mean * mean + input.eps).sqrt();
                    token.iter().map(|x| (x - mean) / divisor).collect()
                })
            },
        },
        Mistake {
            name: "leaves out gain and bias",
            does: "It stops at the token with mean 0 and spread 1, and what was learned is \
                never used",
            looks_right: "A fresh norm has a gain of 1 and a bias of 0",
            read: NORM,
            answer: |input| {
                let n = input.gain.len();
                let (gain, bias) = (vec![1.0; n], vec![0.0; n]);
                Input { gain, bias, ..input.clone() }.right()
            },
        },
        Mistake {
            name: "leaves the gain out",
            does: "It adds the bias to the token with mean 0 and spread 1, and all features \
                are equally loud",
            looks_right: "A fresh norm has a gain of 1",
            read: NORM,
            answer: |input| {
                let gain = vec![1.0; input.gain.len()];
                Input { gain, ..input.clone() }.right()
            },
        },
        Mistake {
            name: "leaves the bias out",
            does: "It multiplies by the gain and adds nothing, so each feature has a mean of \
                0 that the model did not learn",
            looks_right: "A fresh norm has a bias of 0, and RMSNorm has none",
            read: NORM,
            answer: |input| {
                let bias = vec![0.0; input.bias.len()];
                Input { bias, ..input.clone() }.right()
            },
        },
        has_its_own_eps(|input| Input { eps: 1e-5, ..input.clone() }.right()),
        has_its_own_eps(|input| Input { eps: 1e-6, ..input.clone() }.right()),
        has_its_own_eps(|input| Input { eps: 1e-8, ..input.clone() }.right()),
        Mistake {
            name: "adds the bias before it multiplies by the gain",
            does: "It computes gain · (x̂ + bias), so the bias is scaled too",
            looks_right: "With a gain of 1 it is right",
            read: NORM,
            answer: |input| {
                let bias = input.gain.iter().zip(&input.bias).map(|(g, b)| g * b);
                Input { bias: bias.collect(), ..input.clone() }.right()
            },
        },
        Mistake {
            name: "never divides",
            does: "It subtracts the mean and leaves the spread as it was, so a loud token stays loud",
            looks_right: "Each token's mean is right",
            read: NORM,
            answer: |input| input.divided(|_, _| 1.0),
        },
    ],
    place: places::token_feature,
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_tokens: usize, d_model: usize, scale: f64, seed: u64| {
        let row = |seed| inputs::matrix(1, d_model, seed).iter().copied().collect();
        let gain: Vec<f64> = row(seed + 1);
        let mut x = inputs::matrix(n_tokens, d_model, seed) * scale;
        for (t, mut token) in x.row_iter_mut().enumerate() {
            token *= (t + 1) as f64;
            token.add_scalar_mut(scale * t as f64);
        }
        Input {
            x,
            gain: gain.iter().map(|it| 1.0 + 0.3 * it).collect(),
            bias: row(seed + 2),
            eps: 1e-5,
        }
    };
    let sized = |n_tokens: usize, d_model: usize, what: &str, input: Input| Case {
        sizes: format!("{n_tokens} tokens, d_model {d_model}{what}"),
        square: n_tokens == d_model,
        input,
    };
    let mut flat = case(2, 5, 1.0, 7);
    flat.x.row_mut(0).fill(3.0);
    let loud = Input { eps: 0.1, ..case(2, 3, 1.0, 9) };
    vec![
        sized(4, 4, "", case(4, 4, 1.0, 1)),
        sized(3, 6, "; tokens of a spread near 0.001", case(3, 6, 1e-3, 4)),
        sized(2, 5, "; token 0 has equal entries", flat),
        sized(2, 3, "; eps 0.1, and 0.00001 before", loud),
        sized(3, 5, "", case(3, 5, 1.0, 12)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn loops_in_f32_pass() {
        let in_loops = |input: &Input| {
            let mut out = input.x.clone();
            for (t, token) in input.x.row_iter().enumerate() {
                let token: Vec<f32> = token.iter().map(|&x| x as f32).collect();
                let n = token.len() as f32;
                let mean = token.iter().sum::<f32>() / n;
                let var = token.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / n;
                for (j, x) in token.iter().enumerate() {
                    let x_hat = (x - mean) / (var + input.eps as f32).sqrt();
                    out[(t, j)] = input.gain[j] * f64::from(x_hat) + input.bias[j];
                }
            }
            out
        };
        assert_eq!(EXERCISE.diagnose(in_loops), Verdict::Passed);
    }

    #[test]
    fn a_gain_for_each_token_is_not_taken_for_right() {
        let by_token = |input: &Input| {
            let mut plain = input.divided(|variance, _| (variance + input.eps).sqrt());
            for (t, mut token) in plain.row_iter_mut().enumerate() {
                token *= input.gain[t];
            }
            plain
        };
        assert!(matches!(EXERCISE.diagnose(by_token), Verdict::Unknown { .. }));
    }
}
