//! Of the chapter on a model that writes.

use std::process::ExitCode;

use attention::{Mask, Matrix};

use super::random;
use crate::{Case, Exercise, arrays};

/// The mean loss of guessing what comes next.
pub mod next_token_loss {
    use super::*;

    /// A text, and of each of its tokens the logits for the next.
    pub struct Input {
        logits: Matrix,
        ids: Vec<usize>,
    }

    arrays!(Input: logits, ids);

    pub(crate) static EXERCISE: Exercise<Input, f64> =
        Exercise::new("next_token_loss", cases, |_, _| "the loss".into());

    /// Checks what gives the mean loss, in nats, of `logits`, `[n_tokens, n_vocabulary]`, and
    /// n_tokens `ids`.
    pub fn check(answer: fn(logits: &Matrix, ids: &[usize]) -> f64) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.logits, &input.ids))
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |ids: &[usize], n_vocabulary: usize, note: &str, own: u64| Case {
            sizes: format!("{} tokens, a vocabulary of {n_vocabulary}{note}", ids.len()),
            square: false,
            input: Input {
                logits: random::matrix(ids.len(), n_vocabulary, seed + own),
                ids: ids.to_vec(),
            },
        };
        let mut large = case(&[1, 3, 0, 2], 5, "; all logits are near 1000", 3);
        large.input.logits.add_scalar_mut(1000.0);
        let note = "; the logits of row 1 are near −1000, those of the others near 0";
        let mut low = case(&[3, 0, 1, 3], 4, note, 5);
        low.input.logits.row_mut(1).add_scalar_mut(-1000.0);
        let note = "; in row 1, what came next lies 2000 below the largest logit";
        let mut wrong = case(&[0, 2, 1, 1], 3, note, 4);
        wrong.input.logits[(1, 1)] -= 2000.0;
        let note = "; what came next lies 2000 above all other logits";
        let mut sure = case(&[0, 1, 2], 3, note, 6);
        sure.input.logits[(0, 1)] += 2000.0;
        sure.input.logits[(1, 2)] += 2000.0;
        let plain = [case(&[2, 0, 1], 4, "", 1), case(&[4, 1, 1, 0, 3, 2], 5, "", 2)];
        plain.into_iter().chain([large, low, wrong, sure]).collect()
    }
}

/// A token that is drawn.
pub mod choose {
    use super::*;

    /// Logits, a temperature, and the numbers that the draws are made with.
    pub struct Input {
        logits: Vec<f64>,
        temperature: f64,
        u: Vec<f64>,
    }

    arrays!(Input: logits, temperature, u);

    pub(crate) static EXERCISE: Exercise<Input, Vec<usize>> =
        Exercise::new("choose", cases, |input, place| {
            format!("the token that u = {} draws", input.u[place.column])
        });

    /// Checks what draws a token with softmax(logits / temperature) and a number u in [0, 1).
    pub fn check(
        answer: fn(logits: &[f64], temperature: f64, u: f64) -> usize,
    ) -> ExitCode {
        EXERCISE.check(move |Input { logits, temperature, u }| {
            u.iter().map(|&u| answer(logits, *temperature, u)).collect()
        })
    }

    /// No number is a close call: each u but 0 keeps its distance from every running sum, or
    /// is one of them exactly.
    fn cases(_: u64) -> Vec<Case<Input>> {
        let case = |logits: &[f64], temperature: f64, u: &[f64]| Case {
            sizes: format!("logits {logits:?}, temperature {temperature}"),
            square: false,
            input: Input { logits: logits.to_vec(), temperature, u: u.to_vec() },
        };
        // Ten equal logits, whose probabilities add up to less than 1 by rounding.
        let ten_and_never = |place: usize| {
            let mut logits = vec![0.0; 11];
            logits[place] = f64::NEG_INFINITY;
            case(&logits, 1.0, &[0.999_999_999_999_999_9])
        };
        let ruled_out = [f64::NEG_INFINITY, 2.0, -1.0, 0.5];
        vec![
            case(&[0.5, -0.3, 1.2, 0.1], 1.0, &[0.1, 0.3, 0.5, 0.7, 0.9]),
            case(&[0.2, 1.0, -1.0, 0.6, 0.0], 0.5, &[0.05, 0.3, 0.5, 0.62, 0.8, 0.95]),
            case(&ruled_out, 2.0, &[0.0, 0.3, 0.45, 0.65, 0.8, 0.95]),
            case(&[1.0, 3.0, 2.999, 2.998, 0.0], 0.001, &[0.2, 0.7, 0.85, 0.95]),
            case(&[1000.0, 1001.0, 999.0], 1.0, &[0.1, 0.5, 0.95]),
            case(&[-4.0, -3.0, -2.999, -5.0], 0.001, &[0.1, 0.5, 0.9]),
            case(&[0.0, 0.0], 1.0, &[0.5]),
            case(&[0.0, -8.0, 0.0], 1.0, &[0.5]),
            ten_and_never(10),
            ten_and_never(0),
        ]
    }
}

/// How much of a head's attention goes to what came after an earlier copy of a token.
pub mod copying_share {
    use super::*;

    /// A causal map, and the tokens by number.
    pub struct Input {
        attn: Matrix,
        ids: Vec<usize>,
    }

    arrays!(Input: attn, ids);

    pub(crate) static EXERCISE: Exercise<Input, f64> =
        Exercise::new("copying_share", cases, |_, _| "the share".into());

    /// Checks what gives the mean share of a map `[n_tokens, n_tokens]` and n_tokens `ids`.
    pub fn check(answer: fn(attn: &Matrix, ids: &[usize]) -> f64) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.attn, &input.ids))
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let case = |text: &str, own: u64| Case {
            sizes: format!("{} tokens, {text}", text.len()),
            // A map of a sequence onto itself is always square.
            square: false,
            input: Input {
                attn: random::map(text.len(), text.len(), &Mask::Causal, seed + own),
                ids: text.bytes().map(|letter| usize::from(letter - b'a')).collect(),
            },
        };
        let mut cut = case("abcab", 5);
        cut.sizes += ", query 3 gives nothing to key 1";
        let left = 1.0 - std::mem::take(&mut cut.input.attn[(3, 1)]);
        cut.input.attn.row_mut(3).unscale_mut(left);
        let whole = [("abcab", 1), ("abacaabda", 2), ("mfqamfqmfqb", 3), ("abcd", 4)];
        let whole = whole.map(|(text, own)| case(text, own));
        whole.into_iter().chain([cut]).collect()
    }
}
