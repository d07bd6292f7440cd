//! Other ways to write it, and how it can be half right.

use super::*;
use crate::{Difference, Verdict};

#[test]
fn what_mistakes_are_made_from_is_right_as_it_stands() {
    assert_eq!(EXERCISE.diagnose(Input::right), Verdict::Passed);
}

/// The damage of the control depends on the subspace alone.
#[test]
fn any_basis_of_the_subspace_gives_the_same() {
    let with_another_basis = |input: &Input| {
        let rotation = inputs::matrix(input.d_v(), input.d_v(), 9).qr().q();
        Input { basis: &input.basis * rotation, ..input.clone() }.right()
    };
    assert_eq!(EXERCISE.diagnose(with_another_basis), Verdict::Passed);
}

#[test]
fn zeroing_rows_of_w_o_in_f32_passes() {
    let in_f32 = |input: &Input| {
        let Input { concat, w_o, n_heads, head, basis } = input;
        let single = |m: &Matrix| m.map(|x| x as f32);
        let (concat, basis, w) = (single(concat), single(basis), single(&w_o.weight));
        let d_v = concat.ncols() / n_heads;
        let b = single(&w_o.forward(&(&input.concat * 0.0)).unwrap());
        let mut silent = w.clone();
        silent.rows_mut(head * d_v, d_v).fill(0.0);
        let zeroed = &concat * &silent + &b;
        let own = concat.columns(head * d_v, d_v);
        let means = own.row_mean(); // 1 × d_v
        let written = means * w.rows(head * d_v, d_v);
        let mut averaged = zeroed.clone();
        averaged.row_iter_mut().for_each(|mut row| row += &written);
        let part = &concat * &basis * basis.transpose();
        let removed = &part * (own.norm() / part.norm());
        let whole = &concat * &w + &b;
        let left = (&concat - removed) * &w + &b;
        Ablated {
            damage: (&whole - &zeroed).norm().into(),
            control: (&whole - left).norm().into(),
            zeroed: zeroed.map(f64::from),
            averaged: averaged.map(f64::from),
        }
    };
    assert_eq!(EXERCISE.diagnose(in_f32), Verdict::Passed);
}

#[test]
fn the_width_of_d_model_by_h_is_right_only_where_it_is_d_v() {
    let verdict = EXERCISE.diagnose(|input| {
        let d_v = input.w_o.d_out() / input.n_heads;
        let mut part = &input.concat * 0.0;
        let own = input.concat.columns(input.head * d_v, d_v);
        part.columns_mut(input.head * d_v, d_v).copy_from(&own);
        let means =
            Matrix::from_fn(part.nrows(), part.ncols(), |_, c| part.column(c).mean());
        input.without(&part, &means)
    });
    assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
}

#[test]
fn a_panic_is_reported_and_not_guessed_at() {
    let verdict = EXERCISE.diagnose(|input| {
        let mut concat = input.concat.clone();
        concat.row_mut(0).copy_from(&input.basis.row(0));
        input.right()
    });
    let Verdict::Unknown { difference: Difference::Panic { .. }, .. } = verdict else {
        panic!("{verdict:?}");
    };
}
