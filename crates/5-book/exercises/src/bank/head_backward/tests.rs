//! Other ways to write it, and how it can be half right.

use super::*;
use crate::bank::slopes;
use crate::{Difference, Verdict};

/// `Σ d_head · head`, key by key: its slopes are what is asked for. What the map left
/// out is left out.
fn loss(input: &Input, q: &Matrix, k: &Matrix, v: &Matrix) -> f64 {
    let Input { attn, d_head, .. } = input;
    let mut loss = 0.0;
    for i in 0..q.nrows() {
        let (mut sum, mut wish) = (0.0, 0.0);
        for j in (0..k.nrows()).filter(|&j| attn[(i, j)] > 0.0) {
            let product: f64 = (0..q.ncols()).map(|c| q[(i, c)] * k[(j, c)]).sum();
            let exp = (product / input.sqrt_d_k()).exp();
            let dot: f64 = (0..v.ncols()).map(|c| d_head[(i, c)] * v[(j, c)]).sum();
            sum += exp;
            wish += exp * dot;
        }
        loss += if sum == 0.0 { 0.0 } else { wish / sum };
    }
    loss
}

#[test]
fn central_differences_pass() {
    let nudged = |input: &Input| {
        let Input { q, k, v, .. } = input;
        [
            slopes::of(q, |q| loss(input, q, k, v)),
            slopes::of(k, |k| loss(input, q, k, v)),
            slopes::of(v, |v| loss(input, q, k, v)),
        ]
    };
    assert_eq!(EXERCISE.diagnose(nudged), Verdict::Passed);
}

#[test]
fn pair_by_pair_in_f32_passes() {
    let pairs = |input: &Input| {
        let [q, k, v, attn, d_head] =
            [&input.q, &input.k, &input.v, &input.attn, &input.d_head]
                .map(|m| m.map(|x| x as f32));
        let [mut dq, mut dk, mut dv] = [&q, &k, &v].map(|m| m * 0.0);
        for i in (0..q.nrows()).rev() {
            let d_attn: Vec<f32> = v.row_iter().map(|v| v.dot(&d_head.row(i))).collect();
            let dot: f32 = attn.row(i).iter().zip(&d_attn).map(|(a, d)| a * d).sum();
            for j in (0..k.nrows()).rev() {
                let share = attn[(i, j)];
                let pair = share * (d_attn[j] - dot) / (q.ncols() as f32).sqrt();
                dq.set_row(i, &(dq.row(i) + k.row(j) * pair));
                dk.set_row(j, &(dk.row(j) + q.row(i) * pair));
                dv.set_row(j, &(dv.row(j) + d_head.row(i) * share));
            }
        }
        [dq, dk, dv].map(|m| m.map(f64::from))
    };
    assert_eq!(EXERCISE.diagnose(pairs), Verdict::Passed);
}

#[test]
fn the_lines_that_mistakes_change_are_right_as_they_stand() {
    assert_eq!(EXERCISE.diagnose(Input::right), Verdict::Passed);
}

#[test]
fn the_width_of_the_values_for_d_k_is_right_only_for_equal_sizes() {
    let sqrt_d_v = |input: &Input| {
        let d_v = input.v.ncols() as f64;
        input.through_products(&(input.d_scores() / d_v.sqrt()))
    };
    let verdict = EXERCISE.diagnose(sqrt_d_v);
    assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
}

#[test]
fn a_panic_is_told_and_not_guessed_at() {
    let verdict = EXERCISE.diagnose(|input| input.through_products(&Matrix::zeros(9, 9)));
    let Verdict::Unknown { difference: Difference::Panic { .. }, .. } = verdict else {
        panic!("{verdict:?}");
    };
}
