//! A map under two masks at once: causal, and padding at the end.

use std::process::ExitCode;

use attention::{Mask, Matrix, softmax_rows};

use super::{inputs, places};
use crate::{Case, Exercise, Section};

mod mistakes;

/// Scaled scores, and how many of the keys are real.
pub struct Input {
    scores: Matrix,
    n_valid: usize,
}

impl Input {
    fn causal(&self, i: usize, j: usize) -> bool {
        Mask::Causal.added((i, j), self.scores.shape()).is_some()
    }

    fn real(&self, j: usize) -> bool {
        Mask::FirstKeys(self.n_valid).added((0, j), self.scores.shape()).is_some()
    }

    fn may_attend(&self, i: usize, j: usize) -> bool {
        self.causal(i, j) && self.real(j)
    }

    /// The map if softmax sees −∞ where the rule says no.
    fn map(&self, may_attend: impl Fn(usize, usize) -> bool) -> Matrix {
        softmax_rows(self.replaced(f64::NEG_INFINITY, may_attend))
    }

    /// The scores, those where the rule says no replaced.
    fn replaced(&self, by: f64, may_attend: impl Fn(usize, usize) -> bool) -> Matrix {
        let (n_q, n_kv) = self.scores.shape();
        let score = |i, j| if may_attend(i, j) { self.scores[(i, j)] } else { by };
        Matrix::from_fn(n_q, n_kv, score)
    }

    /// The scores and a table, added up.
    fn scores_plus(&self, entry: impl Fn(usize, usize) -> f64) -> Matrix {
        let (n_q, n_kv) = self.scores.shape();
        &self.scores + Matrix::from_fn(n_q, n_kv, entry)
    }
}

/// What the reader writes: from scaled `scores`, `[n_q, n_kv]`, the map `[n_q, n_kv]`
/// under a causal mask and a padding mask that leaves the first `n_valid` keys.
pub type MaskedMap = fn(scores: &Matrix, n_valid: usize) -> Matrix;

/// Checks an answer.
pub fn check(answer: MaskedMap) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.scores, input.n_valid))
}

const CHAPTER: &str = "masks";
const BAD: &str = "bad-numbers";
const MASK: Section = Section::new(CHAPTER, "A mask says who may look at whom");

/// The exercise.
pub static EXERCISE: Exercise<Input, Matrix> = Exercise {
    name: "masks",
    title: "Two masks at once",
    read: MASK,
    begin: "one query i and one key j: write down the two conditions under which i may \
        attend to j. Then ask what the score must be where one of them fails",
    print: "your masked scores and your shares",
    passed: "No query sees the future or the padding, and each row still sums to 1: the \
        keys that are left share out all of it.",
    cases,
    reference: |input| {
        let both = Mask::All(vec![Mask::Causal, Mask::FirstKeys(input.n_valid)]);
        softmax_rows(both.apply(input.scores.clone()))
    },
    mistakes: mistakes::ALL,
    place: places::map,
};

/// Never more queries than keys: every query sees key 0, if that is real.
fn cases() -> Vec<Case<Input>> {
    let case = |n_q: usize, n_kv: usize, n_valid: usize, seed: u64| Case {
        sizes: format!("{n_q} queries, {n_kv} keys, the first {n_valid} of them real"),
        square: n_q == n_kv,
        input: Input { scores: inputs::matrix(n_q, n_kv, seed), n_valid },
    };
    vec![
        case(4, 4, 2, 1),
        case(3, 6, 4, 2),
        case(5, 8, 6, 3),
        case(9, 9, 9, 4), // longer than a window, and the last query sees every key
        case(2, 5, 0, 5),
    ]
}

fn masked_after_softmax(input: &Input) -> Matrix {
    let Input { scores, n_valid } = input;
    let attn = Input { scores: softmax_rows(scores.clone()), n_valid: *n_valid };
    attn.replaced(0.0, |i, j| input.may_attend(i, j))
}

fn zero_times_infinity(input: &Input) -> Matrix {
    let blocked = |i, j| if input.may_attend(i, j) { 0.0 } else { 1.0 };
    softmax_rows(input.scores_plus(|i, j| blocked(i, j) * f64::NEG_INFINITY))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Difference, Verdict};

    /// Softmax over the keys that are seen, from the last to the first, in f32.
    fn key_by_key(input: &Input) -> Matrix {
        let (n_q, n_kv) = input.scores.shape();
        let mut attn = Matrix::zeros(n_q, n_kv);
        for i in 0..n_q {
            let last = i + n_kv - n_q;
            let seen = (0..(last + 1).min(input.n_valid)).rev();
            let exp = |j: usize| (input.scores[(i, j)] as f32).exp();
            let sum: f32 = seen.clone().map(exp).sum();
            seen.for_each(|j| attn[(i, j)] = f64::from(exp(j) / sum));
        }
        attn
    }

    #[test]
    fn any_way_of_blocking_is_right() {
        let added = |input: &Input| {
            softmax_rows(input.scores_plus(|i, j| {
                if input.may_attend(i, j) { 0.0 } else { f64::NEG_INFINITY }
            }))
        };
        let two_masks_one_after_the_other = |input: &Input| {
            let scores = Mask::Causal.apply(input.scores.clone());
            let real: Vec<bool> = (0..scores.ncols()).map(|j| input.real(j)).collect();
            softmax_rows(Mask::Keys(real).apply(scores))
        };
        let shared_out_anew = |input: &Input| {
            let mut attn = masked_after_softmax(input);
            for mut row in attn.row_iter_mut().filter(|row| row.sum() > 0.0) {
                row /= row.sum();
            }
            attn
        };
        assert_eq!(EXERCISE.diagnose(key_by_key), Verdict::Passed);
        assert_eq!(EXERCISE.diagnose(added), Verdict::Passed);
        assert_eq!(EXERCISE.diagnose(two_masks_one_after_the_other), Verdict::Passed);
        assert_eq!(EXERCISE.diagnose(shared_out_anew), Verdict::Passed);
    }

    #[test]
    fn every_finite_fill_is_named() {
        for fill in [-1e4, -1e9, f64::MIN] {
            let filled = |input: &Input| {
                softmax_rows(input.replaced(fill, |i, j| input.may_attend(i, j)))
            };
            let verdict = EXERCISE.diagnose(filled);
            let Verdict::Mistake { mistake, .. } = verdict else { panic!("{verdict:?}") };
            let name = EXERCISE.mistakes[mistake].name;
            assert_eq!(name, "replaces blocked scores by a finite number", "{fill}");
        }
    }

    #[test]
    fn a_window_of_another_width_is_not_taken_for_one_length_that_stands_for_another() {
        for width in [1, 2, 3, 5, 6, 7] {
            let verdict = EXERCISE.diagnose(|input| {
                let (n_q, n_kv) = input.scores.shape();
                input.map(|i, j| input.may_attend(i, j) && j + width > i + n_kv - n_q)
            });
            assert!(matches!(verdict, Verdict::Unknown { .. }), "{width}: {verdict:?}");
        }
    }

    #[test]
    fn a_loop_over_as_many_keys_as_queries_is_right_for_squares() {
        let n_q_keys = |input: &Input| {
            let n_q = input.scores.nrows();
            input.map(|i, j| j >= n_q || (j <= i && input.real(j)))
        };
        let verdict = EXERCISE.diagnose(n_q_keys);
        assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
    }

    #[test]
    fn a_panic_is_told() {
        let verdict = EXERCISE
            .diagnose(|input| input.scores.columns(input.n_valid, 9).into_owned());
        let Verdict::Unknown { difference, .. } = verdict else { panic!("{verdict:?}") };
        assert!(matches!(difference, Difference::Panic { .. }), "{difference:?}");
    }
}
