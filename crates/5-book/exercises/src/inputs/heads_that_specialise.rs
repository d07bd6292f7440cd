//! Of the chapter on heads that specialise.

use std::process::ExitCode;

use attention::{Linear, Matrix};

use super::random;
use crate::{Answer, Case, Exercise, Place, arrays};

/// A head taken away in two ways, and the damage next to that of a control.
pub mod ablation {
    use super::*;

    /// What the heads put out, side by side, what mixes them, and the head to be taken away.
    pub struct Input {
        concat: Matrix,
        w_o: Linear,
        n_heads: usize,
        head: usize,
        basis: Matrix,
    }

    arrays!(Input: concat, w_o, n_heads, head, basis);

    /// What is left without a head, and how much it was worth.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Ablated {
        /// The output with zeros instead of the head, `[n_tokens, d_model]`.
        pub zeroed: Matrix,
        /// The output with the head's mean over the tokens instead of the head,
        /// `[n_tokens, d_model]`.
        pub averaged: Matrix,
        /// By how much the output moves when the head is zeroed.
        pub damage: f64,
        /// By how much it moves when the control is removed instead.
        pub control: f64,
    }

    impl Answer for Ablated {
        fn parts(&self) -> Vec<Matrix> {
            let damages = Matrix::from_row_slice(1, 2, &[self.damage, self.control]);
            vec![self.zeroed.clone(), self.averaged.clone(), damages]
        }

        fn label(part: usize, _: usize) -> String {
            ["zeroed", "averaged", "damage and control"][part].into()
        }
    }

    pub(crate) static EXERCISE: Exercise<Input, Ablated> =
        Exercise::new("ablation", cases, place);

    /// Checks what gives, from the heads side by side, `[n_tokens, h · d_v]`, W^O with its
    /// bias, the number of heads, one of them, and a basis of the control, `[h · d_v, d_v]`,
    /// what is left without that head.
    pub fn check(
        answer: fn(
            concat: &Matrix,
            w_o: &Linear,
            n_heads: usize,
            head: usize,
            basis: &Matrix,
        ) -> Ablated,
    ) -> ExitCode {
        EXERCISE.check(move |Input { concat, w_o, n_heads, head, basis }| {
            answer(concat, w_o, *n_heads, *head, basis)
        })
    }

    fn place(_: &Input, Place { part, row, column }: Place) -> String {
        match (part, column) {
            (0, _) => format!("zeroed, token {row}, feature {column}"),
            (1, _) => format!("zeroed is right; averaged, token {row}, feature {column}"),
            (_, 0) => "zeroed and averaged are right; damage".into(),
            _ => "all but the control is right; control".into(),
        }
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |n_tokens: usize, n_heads: usize, d_v: usize, d_model, head, own| {
            let (width, seed) = (n_heads * d_v, seed + own);
            let dims = random::dims(d_model, n_heads, d_v, d_v);
            Case {
                sizes: format!(
                    "{n_tokens} tokens, {n_heads} heads, d_v {d_v}, d_model {d_model}, head \
                     {head}"
                ),
                square: n_tokens == width && width == d_model && n_heads == d_v,
                input: Input {
                    // A mean that is not 0, so that it matters.
                    concat: random::matrix(n_tokens, width, seed).add_scalar(0.5),
                    w_o: random::layer(dims, seed).w_o().clone(),
                    n_heads,
                    head,
                    basis: random::matrix(width, d_v, seed + 50).qr().q(),
                },
            }
        };
        vec![case(4, 2, 2, 4, 1, 1), case(3, 3, 2, 9, 2, 2), case(5, 2, 3, 4, 0, 3)]
    }
}
