//! Right answers written otherwise, and what only a count shows.

use super::*;
use crate::{Difference, Verdict};

/// Both halves in loops, and the source kept from its last position to its first: the order
/// of keys does not matter.
fn in_loops(
    w: &Decoder,
    memory: &Matrix,
    tokens: &Matrix,
    caches: &mut Caches,
) -> Matrix {
    let reads = |q: &Matrix, cache: &Cache| {
        let (mut out, mut total) = (Matrix::zeros(1, cache.values().ncols()), 0.0);
        for j in (0..cache.keys().nrows()).rev() {
            let dot = q.row(0).dot(&cache.keys().row(j));
            let share = (dot / (q.ncols() as f64).sqrt()).exp();
            out += cache.values().rows(j, 1) * share;
            total += share;
        }
        out / total
    };
    if tokens.nrows() == 1 {
        // One position after the other, the last one first.
        for j in (0..memory.nrows()).rev() {
            keep(&mut caches.cross, &w.cross, &memory.rows(j, 1).into_owned());
        }
    }
    let y = newest(tokens);
    keep(&mut caches.own, &w.own, &y);
    let h = &y + reads(&w.own.w_q.forward(&y), &caches.own);
    &h + reads(&w.cross.w_q.forward(&h), &caches.cross)
}

#[test]
fn right_answers_written_otherwise_pass() {
    assert_eq!(EXERCISE.diagnose(|input| input.steps(in_loops)), Verdict::Passed);
    let halves = |input: &Input| {
        input.steps(|w, memory, tokens, caches| {
            let h = own_half(w, tokens, caches);
            cross_half(w, memory, &h, caches)
        })
    };
    assert_eq!(EXERCISE.diagnose(halves), Verdict::Passed);
}

/// Three mistakes give the right outputs at every step, and no comparison of outputs finds
/// them.
#[test]
fn some_mistakes_show_in_counts_alone() {
    let outputs_are_right = |mistake: &&crate::Mistake<Input, Steps>| {
        cases().iter().all(|case| {
            let call = || (mistake.answer)(&case.input).outs;
            match crate::outcome::call(call) {
                crate::outcome::Outcome::Value(outs) => {
                    same_answer(&outs, &case.input.right().outs)
                }
                crate::outcome::Outcome::Panicked(_) => false,
            }
        })
    };
    let silent: Vec<_> = EXERCISE.mistakes.iter().filter(outputs_are_right).collect();
    let silent: Vec<_> = silent.into_iter().map(|mistake| mistake.name).collect();
    assert_eq!(
        silent,
        [
            "projects all of the target again at each step",
            "projects the source again at each step",
            "appends the source again at each step",
        ]
    );
}

/// Keys that are projected twice and kept once have no name, but they are counted.
#[test]
fn a_count_that_is_wrong_otherwise_is_told() {
    let verdict = EXERCISE.diagnose(|input| {
        input.steps(|w, memory, tokens, caches| {
            w.cross.w_k.forward(&newest(tokens));
            let h = own_half(w, tokens, caches);
            cross_half(w, memory, &h, caches)
        })
    });
    let Verdict::Unknown { difference, .. } = verdict else { panic!("{verdict:?}") };
    let Difference::Entry { place, found, expected } = difference else {
        panic!("{difference:?}")
    };
    assert!(place.contains("rows through W^K of the cross-attention"), "{place}");
    assert_eq!((found, expected), (6.0, 3.0));
}

#[test]
fn a_row_for_each_token_so_far_has_the_wrong_shape() {
    let verdict = EXERCISE.diagnose(|input| {
        input.steps(|w, memory, tokens, caches| {
            let mut out = tokens.clone();
            let h = own_half(w, tokens, caches);
            let last = cross_half(w, memory, &h, caches);
            out.row_mut(tokens.nrows() - 1).copy_from(&last);
            out
        })
    });
    let Verdict::Unknown { difference, .. } = verdict else { panic!("{verdict:?}") };
    assert!(matches!(difference, Difference::Shape { .. }), "{difference:?}");
}
