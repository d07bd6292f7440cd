//! Other ways to write it, and how it can be half right.

use super::*;
use crate::bank::slopes;
use crate::{Difference, Verdict};

/// The loss from differences between logits: `ln Σ_j exp(l_j − l_c)`, with no maximum
/// where they are small.
fn loss(logits: &Matrix, classes: &[usize]) -> f64 {
    let of_token = |(t, &c): (usize, &usize)| {
        let row = logits.row(t);
        let over = row.iter().map(|l| l - row[c]).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = row.iter().map(|l| (l - row[c] - over).exp()).sum();
        over + sum.ln()
    };
    classes.iter().enumerate().map(of_token).sum::<f64>() / classes.len() as f64
}

#[test]
fn central_differences_pass() {
    let nudged = |input: &Input| {
        let of = |logits: &Matrix| loss(logits, &input.classes);
        (of(&input.logits), slopes::of(&input.logits, of))
    };
    assert_eq!(EXERCISE.diagnose(nudged), Verdict::Passed);
}

#[test]
fn token_by_token_in_f32_passes() {
    let by_token = |input: &Input| {
        let (n, n_classes) = input.logits.shape();
        let mut gradient = Matrix::zeros(n, n_classes);
        let mut total = 0.0_f32;
        for (t, &right) in input.classes.iter().enumerate().rev() {
            let row: Vec<f32> = input.logits.row(t).iter().map(|&l| l as f32).collect();
            let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let sum: f32 = row.iter().map(|l| (l - largest).exp()).sum();
            total += largest + sum.ln() - row[right];
            for (c, l) in row.iter().enumerate() {
                let y = f32::from(u8::from(c == right));
                gradient[(t, c)] = f64::from((l - largest).exp() / sum - y) / n as f64;
            }
        }
        (f64::from(total) / n as f64, gradient)
    };
    assert_eq!(EXERCISE.diagnose(by_token), Verdict::Passed);
}

#[test]
fn as_many_classes_as_tokens_is_right_only_for_squares() {
    let mean_over_classes = |input: &Input| {
        let (loss, gradient) = input.right();
        let factor = input.n_tokens() / gradient.ncols() as f64;
        (loss * factor, gradient * factor)
    };
    let verdict = EXERCISE.diagnose(mean_over_classes);
    assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
}

#[test]
fn a_panic_is_reported_and_not_guessed_at() {
    let verdict = EXERCISE.diagnose(|input| {
        let past_the_end = input.logits[(0, input.logits.ncols() + input.classes[0])];
        (past_the_end, input.logits.clone())
    });
    let Verdict::Unknown { difference: Difference::Panic { .. }, .. } = verdict else {
        panic!("{verdict:?}");
    };
}
