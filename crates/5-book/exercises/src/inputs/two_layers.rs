//! Of the chapter on two layers.

use std::process::ExitCode;

use attention::{Mask, Matrix};

use super::{place, random};
use crate::array::Several;
use crate::{Array, Arrays, Case, Exercise, Place, arrays};

/// The map of an induction head.
pub mod induction {
    use super::*;

    /// The tokens of a sequence, by number.
    pub struct Input {
        ids: Vec<usize>,
    }

    arrays!(Input: ids);

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("induction", cases, place::map);

    /// Checks what gives, from the `ids` of n_tokens tokens, the map `[n_tokens, n_tokens]`.
    pub fn check(answer: fn(ids: &[usize]) -> Matrix) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.ids))
    }

    /// Nothing is random here.
    fn cases(_: u64) -> Vec<Case<Input>> {
        let case = |text: &str| Case {
            sizes: match text.len() {
                1 => format!("1 token, {text}"),
                n => format!("{n} tokens, {text}"),
            },
            // A map of a sequence onto itself is always square.
            square: false,
            input: Input {
                ids: text.bytes().map(|letter| usize::from(letter - b'a')).collect(),
            },
        };
        ["mfqamfq", "abcabcabcab", "abacaab", "aabb", "a"].map(case).into()
    }
}

/// A logit of a two-layer model, path by path.
pub mod logit_paths {
    use super::*;

    /// A head as what it does to the residual.
    #[derive(Debug, Clone)]
    pub struct Head {
        /// Its map, `[n_tokens, n_tokens]`.
        pub attn: Matrix,
        /// W^V W^O, `[d_model, d_model]`.
        pub w_ov: Matrix,
    }

    impl Arrays for Head {
        fn arrays(&self, name: &str) -> Vec<Array> {
            let attn = self.attn.arrays(&format!("{name}.attn"));
            [attn, self.w_ov.arrays(&format!("{name}.w_ov"))].concat()
        }
    }

    impl Several for Head {}

    /// Tokens, two layers of heads, and a word's column of the unembedding.
    pub struct Input {
        x: Matrix,
        first: Vec<Head>,
        second: Head,
        direction: Vec<f64>,
    }

    arrays!(Input: x, first, second, direction);

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("logit_paths", cases, place);

    /// Checks what gives a row per token and a column per path, `[n_tokens, 2h + 2]`.
    pub fn check(
        answer: fn(
            x: &Matrix,
            first: &[Head],
            second: &Head,
            direction: &[f64],
        ) -> Matrix,
    ) -> ExitCode {
        EXERCISE.check(move |input| {
            answer(&input.x, &input.first, &input.second, &input.direction)
        })
    }

    fn place(input: &Input, Place { row, column, .. }: Place) -> String {
        let n_parts = 1 + input.first.len();
        let path = match (column % n_parts, column < n_parts) {
            (0, true) => "straight".into(),
            (i, true) => format!("through head {} of layer 1", i - 1),
            (0, false) => "through the head of layer 2 alone".into(),
            (i, false) => format!("through head {} of layer 1 and then layer 2", i - 1),
        };
        format!("token {row}, column {column} ({path})")
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_tokens: usize, d_model: usize, n_heads: usize, own: u64| {
            let seed = seed + own;
            let head = |seed: u64| Head {
                attn: random::map(n_tokens, n_tokens, &Mask::Causal, seed),
                w_ov: random::matrix(d_model, d_model, seed + 1),
            };
            let direction = random::matrix(1, d_model, seed + 5);
            Case {
                sizes: format!(
                    "{n_tokens} tokens, d_model {d_model}, {n_heads} heads in layer 1"
                ),
                square: n_tokens == d_model,
                input: Input {
                    x: random::matrix(n_tokens, d_model, seed),
                    first: (0..n_heads as u64)
                        .map(|i| head(seed + 10 * i + 10))
                        .collect(),
                    second: head(seed + 2),
                    direction: direction.iter().copied().collect(),
                },
            }
        };
        vec![case(3, 3, 2, 1), case(4, 3, 2, 100), case(3, 5, 3, 200)]
    }
}
