//! RMSNorm and the gated feed-forward, with their residual.

use std::process::ExitCode;

use attention::Matrix;

use super::{inputs, places};
use crate::{Case, Exercise, Section};

mod mistakes;

/// The three matrices of a gated feed-forward.
#[derive(Debug, Clone)]
pub struct FeedForward {
    /// What decides how much passes, `[d_model, d_ff]`.
    pub w_gate: Matrix,
    /// What passes, `[d_model, d_ff]`.
    pub w_up: Matrix,
    /// Back to the width of a token, `[d_ff, d_model]`.
    pub w_down: Matrix,
}

/// Tokens, and a norm and a feed-forward for them.
#[derive(Clone)]
pub struct Input {
    x: Matrix,
    gain: Vec<f64>,
    eps: f64,
    ff: FeedForward,
}

impl Input {
    /// Entry by entry, as sums.
    fn right(&self) -> Matrix {
        let normed = self.normed(rms);
        let (d_model, d_ff) = self.ff.w_gate.shape();
        let product = |w: &Matrix, t: usize, c: usize| -> f64 {
            (0..d_model).map(|j| normed[(t, j)] * w[(j, c)]).sum()
        };
        Matrix::from_fn(self.x.nrows(), d_model, |t, j| {
            let hidden =
                |c| silu(product(&self.ff.w_gate, t, c)) * product(&self.ff.w_up, t, c);
            self.x[(t, j)]
                + (0..d_ff).map(|c| hidden(c) * self.ff.w_down[(c, j)]).sum::<f64>()
        })
    }

    /// Each token times the gain, and divided by what `divisor` says of it and of eps.
    fn normed(&self, divisor: impl Fn(&[f64], f64) -> f64) -> Matrix {
        let mut x = self.x.clone();
        for mut token in x.row_iter_mut() {
            let entries: Vec<f64> = token.iter().copied().collect();
            token /= divisor(&entries, self.eps);
            token.iter_mut().zip(&self.gain).for_each(|(entry, gain)| *entry *= gain);
        }
        x
    }

    /// The feed-forward of some tokens, with another middle: of the gate's product and the
    /// other one.
    fn fed(&self, n: &Matrix, middle: impl Fn(f64, f64) -> f64) -> Matrix {
        let (gate, up) = (n * &self.ff.w_gate, n * &self.ff.w_up);
        gate.zip_map(&up, middle) * &self.ff.w_down
    }

    /// The right answer with another norm.
    fn with_norm(&self, divisor: impl Fn(&[f64], f64) -> f64) -> Matrix {
        &self.x + self.fed(&self.normed(divisor), swiglu)
    }

    /// The right answer with another middle.
    fn with_middle(&self, middle: impl Fn(f64, f64) -> f64) -> Matrix {
        &self.x + self.fed(&self.normed(rms), middle)
    }
}

fn mean_square(token: &[f64]) -> f64 {
    token.iter().map(|x| x * x).sum::<f64>() / token.len() as f64
}

fn rms(token: &[f64], eps: f64) -> f64 {
    (mean_square(token) + eps).sqrt()
}

fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

fn silu(z: f64) -> f64 {
    z * sigmoid(z)
}

fn swiglu(gate: f64, up: f64) -> f64 {
    silu(gate) * up
}

/// What the reader writes: the tokens after RMSNorm and the gated feed-forward, with their
/// residual, `[n_tokens, d_model]`.
pub type Gated = fn(x: &Matrix, gain: &[f64], eps: f64, ff: &FeedForward) -> Matrix;

/// Checks an answer.
pub fn check(answer: Gated) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.x, &input.gain, input.eps, &input.ff))
}

const GATED: Section = Section::new("the-block", "The feed-forward layer");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "gated_feed_forward",
    title: "A gated feed-forward",
    read: GATED,
    begin: "the token 3, 4 with a gain of 1 and an eps of 0: what is the mean of its squares, \
        and what does RMSNorm make of it?",
    print: "the normed token, and both of its products",
    passed: "Each token keeps itself and adds what its gate lets through. This is the second \
        half of a block of Llama, Mistral or Qwen.",
    cases,
    reference: Input::right,
    mistakes: mistakes::ALL,
    place: places::token_feature,
};

fn cases() -> Vec<Case<Input>> {
    let case = |n_tokens: usize, d_model: usize, d_ff: usize, eps: f64, seed: u64| {
        let ff = FeedForward {
            w_gate: inputs::matrix(d_model, d_ff, seed + 1),
            w_up: inputs::matrix(d_model, d_ff, seed + 2),
            w_down: inputs::matrix(d_ff, d_model, seed + 3),
        };
        let gain = inputs::matrix(1, d_model, seed + 4)
            .iter()
            .map(|it| 1.0 + 0.3 * it)
            .collect();
        let mut x = inputs::matrix(n_tokens, d_model, seed);
        for (t, mut token) in x.row_iter_mut().enumerate() {
            token *= (t + 1) as f64;
            token.add_scalar_mut(0.7);
        }
        Input { x, gain, eps, ff }
    };
    let sized = |what: &str, input: Input| {
        let ((n_tokens, d_model), d_ff) = (input.x.shape(), input.ff.w_up.ncols());
        Case {
            sizes: format!("{n_tokens} tokens, d_model {d_model}, d_ff {d_ff}{what}"),
            square: n_tokens == d_model && d_model == d_ff,
            input,
        }
    };
    let mut quiet = case(2, 4, 3, 1e-5, 20);
    quiet.x *= 1e-3;
    let mut zeros = case(2, 3, 4, 1e-6, 30);
    zeros.x.row_mut(1).fill(0.0);
    vec![
        sized("", case(3, 3, 3, 1e-5, 1)),
        sized("", case(3, 4, 6, 1e-5, 10)),
        sized("; tokens near 0.001", quiet),
        sized("; token 1 is zeros", zeros),
        sized("; eps 0.1", case(2, 3, 5, 0.1, 40)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn matrices_in_f32_pass() {
        let in_f32 = |input: &Input| {
            let x = input.x.map(|it| it as f32);
            let [gate, up, down] = [&input.ff.w_gate, &input.ff.w_up, &input.ff.w_down]
                .map(|w| w.map(|it| it as f32));
            let mut n = x.clone();
            for mut token in n.row_iter_mut() {
                let square = token.norm_squared() / token.len() as f32;
                token.unscale_mut((square + input.eps as f32).sqrt());
                for (j, entry) in token.iter_mut().enumerate() {
                    *entry *= input.gain[j] as f32;
                }
            }
            let middle =
                (&n * gate).zip_map(&(n * up), |g, u| g * u / (1.0 + (-g).exp()));
            (x + middle * down).map(f64::from)
        };
        assert_eq!(EXERCISE.diagnose(in_f32), Verdict::Passed);
    }
}
