//! Other ways to write it, and what nobody has listed.

use super::*;
use crate::{Difference, Verdict};

fn diagnose(answer: Part) -> Verdict {
    EXERCISE.diagnose(|input| {
        input.each(|rank| answer(&input.heads, &input.w_o, input.n_ranks, rank))
    })
}

/// Whichever rank adds it, or all of them a part.
#[test]
fn b_o_may_be_added_anywhere() {
    let on_the_last = |input: &Input| {
        input.with_bias(|rank| f64::from(u8::from(rank + 1 == input.n_ranks)))
    };
    assert_eq!(EXERCISE.diagnose(on_the_last), Verdict::Passed);
    let everywhere = |input: &Input| input.with_bias(|_| 1.0 / input.n_ranks as f64);
    assert_eq!(EXERCISE.diagnose(everywhere), Verdict::Passed);
    let by_heads = |input: &Input| {
        input.with_bias(|rank| input.share(rank).len() as f64 / input.n_heads() as f64)
    };
    assert_eq!(EXERCISE.diagnose(by_heads), Verdict::Passed);
}

#[test]
fn head_by_head_in_f32_passes() {
    let verdict = diagnose(|heads, w_o, n_ranks, rank| {
        let mut owners = (0..n_ranks).flat_map(|rank| {
            let n = (0..heads.len()).filter(|i| i % n_ranks == rank).count();
            vec![rank; n]
        });
        let w_o = w_o.cast::<f32>();
        let (n_tokens, d_v) = heads[0].shape();
        let mut out = Matrix::<f32>::zeros(n_tokens, w_o.d_out());
        for (i, head) in heads.iter().enumerate() {
            if owners.next() == Some(rank) {
                out += head.map(|x| x as f32) * w_o.weight.rows(i * d_v, d_v);
            }
        }
        if rank + 1 == n_ranks {
            out.row_iter_mut().for_each(|mut row| row += w_o.bias.as_ref().unwrap());
        }
        out.map(f64::from)
    });
    assert_eq!(verdict, Verdict::Passed);
}

#[test]
fn a_rank_without_heads_that_returns_nothing_is_told_its_shape() {
    let empty = |input: &Input| {
        let Parts(mut parts) = right(input);
        for (rank, part) in parts.iter_mut().enumerate() {
            if !input.has_heads(rank) {
                *part = Matrix::zeros(0, 0);
            }
        }
        Parts(parts)
    };
    let verdict = EXERCISE.diagnose(empty);
    let Verdict::Unknown { difference: Difference::Shape { part, .. }, .. } = verdict
    else {
        panic!("{verdict:?}");
    };
    assert_eq!(part.as_deref(), Some("rank 2"));
}

#[test]
fn other_shapes_and_nan_are_told_and_not_guessed_at() {
    let answers: [Part; 4] = [
        |_, _, _, _| Matrix::zeros(0, 0),
        |heads, _, _, _| heads[0].clone(),
        |heads, w_o, _, _| Matrix::from_element(heads[0].nrows(), w_o.d_out(), f64::NAN),
        |_, w_o, _, rank| Matrix::zeros(rank, w_o.d_out()),
    ];
    for answer in answers {
        let verdict = diagnose(answer);
        assert!(matches!(verdict, Verdict::Unknown { .. }), "{verdict:?}");
    }
}

#[test]
fn a_width_of_d_model_by_h_is_right_only_where_it_is_d_v() {
    let verdict = diagnose(|heads, w_o, n_ranks, rank| {
        let d_v = w_o.d_out() / heads.len();
        let mut out = Matrix::zeros(heads[0].nrows(), w_o.d_out());
        for i in share(heads.len(), n_ranks, rank) {
            out += &heads[i] * w_o.weight.rows(i * d_v, d_v);
        }
        if let (0, Some(b_o)) = (rank, &w_o.bias) {
            out.row_iter_mut().for_each(|mut row| row += b_o);
        }
        out
    });
    assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
}

/// What heads write is right or wrong whatever becomes of b^O, so two slips are told one
/// after the other.
#[test]
fn of_two_slips_the_heads_are_told_first() {
    let verdict = EXERCISE.diagnose(|input| {
        let n = input.n_heads() / input.n_ranks;
        input
            .each(|rank| input.plus_bias(input.written_by(rank * n..(rank + 1) * n), 1.0))
    });
    assert!(matches!(verdict, Verdict::Unknown { .. }), "{verdict:?}");
}
