//! Of the chapter on the block.

use std::process::ExitCode;

use attention::{Linear, Matrix, Rng, SeedableRng};

use super::{place, random};
use crate::{Array, Arrays, Case, Exercise, arrays};

/// One random number for each feature.
fn features(d_model: usize, seed: u64) -> Vec<f64> {
    random::matrix(1, d_model, seed).iter().copied().collect()
}

/// A gain for each feature, near 1.
fn gain(d_model: usize, seed: u64) -> Vec<f64> {
    features(d_model, seed).iter().map(|it| 1.0 + 0.3 * it).collect()
}

/// Every token on its own scale: `gain ⊙ (x − mean) / √(var + eps) + bias`.
pub mod layer_norm {
    use super::*;

    /// Tokens, and the norm for them.
    pub struct Input {
        x: Matrix,
        gain: Vec<f64>,
        bias: Vec<f64>,
        eps: f64,
    }

    arrays!(Input: x, gain, bias, eps);

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("layer_norm", cases, place::token_feature);

    /// Checks what gives, from `x`, `[n_tokens, d_model]`, a gain and a bias for each feature,
    /// and eps, the tokens normed, `[n_tokens, d_model]`.
    pub fn check(
        answer: fn(x: &Matrix, gain: &[f64], bias: &[f64], eps: f64) -> Matrix,
    ) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.x, &input.gain, &input.bias, input.eps))
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_tokens: usize, d_model: usize, scale: f64, own: u64| {
            let seed = seed + own;
            let mut x = random::matrix(n_tokens, d_model, seed) * scale;
            for (t, mut token) in x.row_iter_mut().enumerate() {
                token *= (t + 1) as f64;
                token.add_scalar_mut(scale * t as f64);
            }
            let bias = features(d_model, seed + 2);
            Input { x, gain: gain(d_model, seed + 1), bias, eps: 1e-5 }
        };
        let sized = |what: &str, input: Input| {
            let (n_tokens, d_model) = input.x.shape();
            Case {
                sizes: format!("{n_tokens} tokens, d_model {d_model}{what}"),
                square: n_tokens == d_model,
                input,
            }
        };
        let mut flat = case(2, 5, 1.0, 7);
        flat.x.row_mut(0).fill(3.0);
        let large_eps = Input { eps: 0.1, ..case(2, 3, 1.0, 9) };
        vec![
            sized("", case(4, 4, 1.0, 1)),
            sized("; tokens of a spread near 0.001", case(3, 6, 1e-3, 4)),
            sized("; token 0 has equal entries", flat),
            sized("; eps 0.1, and 0.00001 before", large_eps),
            sized("", case(3, 5, 1.0, 12)),
        ]
    }
}

/// A layer with its residual and its norm, in either place.
pub mod sublayer {
    use super::*;

    /// Where the norm stands.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum NormPlace {
        /// The layer reads normed tokens: "pre-norm".
        Before,
        /// The sum is normed: "post-norm".
        After,
    }

    impl Arrays for NormPlace {
        fn arrays(&self, name: &str) -> Vec<Array> {
            (*self == NormPlace::Before).arrays(&format!("{name}.is_before"))
        }
    }

    /// A layer or a norm, from tokens to tokens of the same shape.
    pub type Layer<'a> = &'a dyn Fn(&Matrix) -> Matrix;

    /// What makes each token's mean 0 and its spread 1, and then scales and shifts it.
    struct Norm {
        gain: Vec<f64>,
        bias: Vec<f64>,
        eps: f64,
    }

    impl Norm {
        fn forward(&self, x: &Matrix) -> Matrix {
            let (n_tokens, d_model) = x.shape();
            let (mean, variance) = (x.column_mean(), x.column_variance());
            Matrix::from_fn(n_tokens, d_model, |t, j| {
                let spread = (variance[t] + self.eps).sqrt();
                self.gain[j] * (x[(t, j)] - mean[t]) / spread + self.bias[j]
            })
        }
    }

    impl Arrays for Norm {
        fn arrays(&self, name: &str) -> Vec<Array> {
            let gain = self.gain.arrays(&format!("{name}.gain"));
            let bias = self.bias.arrays(&format!("{name}.bias"));
            [gain, bias, self.eps.arrays(&format!("{name}.eps"))].concat()
        }
    }

    /// Tokens, and a layer and a norm for them. The layer is the hyperbolic tangent of a linear
    /// map: for this exercise it does not matter which, but it is not linear.
    pub struct Input {
        x: Matrix,
        f: Linear,
        norm: Norm,
        place: NormPlace,
    }

    arrays!(Input: x, f, norm, place);

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("sublayer", cases, place::token_feature);

    /// Checks what gives, from `x`, `[n_tokens, d_model]`, a layer, a norm and the place of the
    /// norm, what comes out of the sub-layer, `[n_tokens, d_model]`.
    pub fn check(
        answer: fn(x: &Matrix, f: Layer, norm: Layer, place: NormPlace) -> Matrix,
    ) -> ExitCode {
        EXERCISE.check(move |Input { x, f, norm, place }| {
            // A layer as wide as the tokens, which fits by construction.
            let f = |x: &Matrix| f.forward(x).unwrap_or_default().map(f64::tanh);
            answer(x, &f, &|x| norm.forward(x), *place)
        })
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_tokens: usize, d_model: usize, place: NormPlace, own: u64| {
            let seed = seed + own;
            let bias = features(d_model, seed + 1);
            let rng = &mut Rng::seed_from_u64(seed + 2);
            let name = match place {
                NormPlace::Before => "before",
                NormPlace::After => "after",
            };
            Case {
                sizes: format!("{n_tokens} tokens, d_model {d_model}, norm {name}"),
                square: false,
                input: Input {
                    x: random::matrix(n_tokens, d_model, seed + 3) * 3.0,
                    f: Linear::random(d_model, d_model, true, rng),
                    norm: Norm { gain: gain(d_model, seed), bias, eps: 1e-5 },
                    place,
                },
            }
        };
        vec![
            case(3, 4, NormPlace::Before, 1),
            case(3, 4, NormPlace::After, 5),
            case(2, 6, NormPlace::Before, 9),
        ]
    }
}

/// From ids to vectors: `√d_model · E[id] + P[t]`.
pub mod positions {
    use super::*;

    /// Ids of sequences of equal length, one after the other, and a vector for each token of
    /// the vocabulary.
    pub struct Input {
        ids: Vec<usize>,
        n_tokens: usize,
        table: Matrix,
    }

    arrays!(Input: ids, n_tokens, table);

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("positions", cases, place::token_feature);

    /// Checks what gives, from the ids of sequences of `n_tokens` each, and the table of tokens,
    /// `[n_vocabulary, d_model]`, the vectors that enter the first block,
    /// `[n_sequences · n_tokens, d_model]`.
    pub fn check(
        answer: fn(ids: &[usize], n_tokens: usize, table: &Matrix) -> Matrix,
    ) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.ids, input.n_tokens, &input.table))
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_sequences: usize, n_tokens: usize, d_model: usize, own: u64| {
            let n_vocabulary = 9;
            let ids = (0..n_sequences * n_tokens)
                .map(|row| (row * row + 3 * row + 2) % n_vocabulary);
            Case {
                sizes: format!("{n_sequences} × {n_tokens} tokens, d_model {d_model}"),
                square: false,
                input: Input {
                    ids: ids.collect(),
                    n_tokens,
                    table: random::matrix(n_vocabulary, d_model, seed + own) * 0.4,
                },
            }
        };
        vec![case(1, 4, 6, 1), case(2, 5, 8, 2), case(3, 3, 4, 3)]
    }
}

/// RMSNorm and the gated feed-forward, with their residual.
pub mod gated_feed_forward {
    use super::*;

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

    impl Arrays for FeedForward {
        fn arrays(&self, name: &str) -> Vec<Array> {
            let parts = [
                ("w_gate", &self.w_gate),
                ("w_up", &self.w_up),
                ("w_down", &self.w_down),
            ];
            parts.map(|(part, w)| w.arrays(&format!("{name}.{part}"))).concat()
        }
    }

    /// Tokens, and a norm and a feed-forward for them.
    pub struct Input {
        x: Matrix,
        gain: Vec<f64>,
        eps: f64,
        ff: FeedForward,
    }

    arrays!(Input: x, gain, eps, ff);

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("gated_feed_forward", cases, place::token_feature);

    /// Checks what gives the tokens after RMSNorm and the gated feed-forward, with their
    /// residual, `[n_tokens, d_model]`.
    pub fn check(
        answer: fn(x: &Matrix, gain: &[f64], eps: f64, ff: &FeedForward) -> Matrix,
    ) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.x, &input.gain, input.eps, &input.ff))
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_tokens: usize, d_model: usize, d_ff: usize, eps: f64, own: u64| {
            let seed = seed + own;
            let ff = FeedForward {
                w_gate: random::matrix(d_model, d_ff, seed + 1),
                w_up: random::matrix(d_model, d_ff, seed + 2),
                w_down: random::matrix(d_ff, d_model, seed + 3),
            };
            let mut x = random::matrix(n_tokens, d_model, seed);
            for (t, mut token) in x.row_iter_mut().enumerate() {
                token *= (t + 1) as f64;
                token.add_scalar_mut(0.7);
            }
            Input { x, gain: gain(d_model, seed + 4), eps, ff }
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
}
