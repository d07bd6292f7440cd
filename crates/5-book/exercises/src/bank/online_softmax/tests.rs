//! Other ways to write it, and how it can be half right.

use super::*;
use crate::{Difference, Verdict};

#[test]
fn key_by_key_passes() {
    let key_by_key = |input: &Input| {
        input.after_each_block(|running, scores, values| {
            for (&score, value) in scores.iter().zip(values.row_iter()) {
                if score == f64::NEG_INFINITY {
                    continue;
                }
                let m = running.m.max(score);
                let (factor, exp) = ((running.m - m).exp(), (score - m).exp());
                running.l = running.l * factor + exp;
                let o = running.o.iter().zip(value.iter());
                running.o = o.map(|(o, v)| o * factor + exp * v).collect();
                running.m = m;
            }
        })
    };
    assert_eq!(EXERCISE.diagnose(key_by_key), Verdict::Passed);
}

#[test]
fn in_f32_and_with_a_product_it_passes() {
    let in_f32 = |input: &Input| {
        input.after_each_block(|running, scores, values| {
            let scores: Vec<f32> = scores.iter().map(|&s| s as f32).collect();
            let largest = scores.iter().copied().fold(running.m as f32, f32::max);
            if largest == f32::NEG_INFINITY {
                return;
            }
            let factor = (running.m as f32 - largest).exp();
            let exp: Vec<f32> = scores.iter().map(|s| (s - largest).exp()).collect();
            let sum: f32 = exp.iter().sum();
            let exp = Matrix::from_iterator(1, exp.len(), exp.iter().map(|&e| e.into()));
            let added = exp * values;
            running.l = f64::from(running.l as f32 * factor + sum);
            running
                .o
                .iter_mut()
                .zip(&added)
                .for_each(|(o, a)| *o = *o * f64::from(factor) + a);
            running.m = largest.into();
        })
    };
    assert_eq!(EXERCISE.diagnose(in_f32), Verdict::Passed);
}

#[test]
fn as_many_keys_as_features_is_right_only_for_squares() {
    let d_v_keys = |input: &Input| {
        input.after_each_block(|running, scores, values| {
            let n = scores.len().min(values.ncols());
            let rows = values.rows(0, n).into_owned();
            let largest = scores.iter().copied().fold(running.m, f64::max);
            let factor = (running.m - largest).exp();
            let exp: Vec<f64> = scores[..n].iter().map(|s| (s - largest).exp()).collect();
            running.l = running.l * factor + exp.iter().sum::<f64>();
            for (c, o) in running.o.iter_mut().enumerate() {
                let column = rows.column(c);
                let added: f64 = exp.iter().zip(&column).map(|(e, v)| e * v).sum();
                *o = *o * factor + added;
            }
            running.m = largest;
        })
    };
    let verdict = EXERCISE.diagnose(d_v_keys);
    assert!(!matches!(verdict, Verdict::Passed | Verdict::Mistake { .. }), "{verdict:?}");
}

#[test]
fn a_panic_is_reported_and_not_guessed_at() {
    let verdict = EXERCISE.diagnose(|input| {
        input.after_each_block(|running, scores, _| running.l += scores[2])
    });
    let Verdict::Unknown { difference: Difference::Panic { .. }, .. } = verdict else {
        panic!("{verdict:?}");
    };
}
