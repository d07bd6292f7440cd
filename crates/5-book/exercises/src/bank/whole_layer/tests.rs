//! Right layers pass, however they are written; and what is said of others.

use attention::{LayerParameters, Mask, Matrix, Real, softmax_rows};
use fused_heads::FusedAttention;
use per_head::{NaiveAttention, SumOfHeadsAttention};

use super::*;
use crate::{Answer, Difference, Verdict};

fn forward<T: Real>(layer: &impl MultiHeadAttention<T>, input: &Input) -> Attended {
    let cast = |x: &Matrix| x.map(T::of);
    let (q, k, v) = (cast(&input.query), cast(&input.key), cast(&input.value));
    let Attended { out, attn } =
        layer.forward(&q, &k, &v, &input.mask).expect("sizes fit");
    let back = |x: &Matrix<T>| x.map(T::to_f64);
    Attended { out: back(&out), attn: attn.iter().map(back).collect() }
}

#[test]
fn loops_sums_and_fused_heads_are_right() {
    let answers: [fn(&Input) -> Attended; 4] = [
        |input| forward(&NaiveAttention::new(input.parameters.clone()), input),
        |input| forward(&SumOfHeadsAttention::new(input.parameters.clone()), input),
        |input| forward(&FusedAttention::new(&input.parameters), input),
        |input| forward(&FusedAttention::<f32>::new(&input.parameters.cast()), input),
    ];
    for answer in answers {
        assert_eq!(EXERCISE.diagnose(answer), Verdict::Passed);
    }
}

#[test]
fn the_layer_that_mistakes_are_made_from_is_right() {
    assert_eq!(EXERCISE.diagnose(|input| Steps::RIGHT.run(input)), Verdict::Passed);
}

#[test]
fn pytorchs_single_precision_is_well_within_the_tolerance() {
    let Case { input, .. } = trained();
    let known = input.known.as_ref().expect("the reference of the file");
    let diff = Steps::RIGHT.run(&input).max_abs_diff(known).expect("the same shapes");
    assert!(diff < 0.1 * Attended::TOLERANCE, "{diff}");
}

#[test]
fn a_dropped_key_bias_changes_nothing() {
    let verdict = EXERCISE.diagnose(|input| {
        let mut heads = input.parameters.heads().to_vec();
        heads.iter_mut().for_each(|head| head.w_k.bias = None);
        let w_o = input.parameters.w_o().clone();
        let parameters = LayerParameters::new(heads, w_o).expect("sizes fit");
        Steps::RIGHT.run(&Input { parameters, ..input.clone() })
    });
    assert_eq!(verdict, Verdict::Passed);
}

/// Each head is put at `i · d_k` of a matrix of `h · d_v` columns.
#[test]
fn a_width_that_stands_for_another_is_right_where_they_are_equal() {
    let verdict = EXERCISE.diagnose(|input| {
        let Attended { attn, .. } = Steps::RIGHT.run(input);
        let dims = input.parameters.dims();
        let mut concat = Matrix::zeros(input.query.nrows(), dims.concat_width());
        for (i, head) in input.parameters.heads().iter().enumerate() {
            let v = head.w_v.forward(&input.value).expect("sizes fit");
            concat.columns_mut(i * dims.d_k(), dims.d_v()).copy_from(&(&attn[i] * v));
        }
        let out = input.parameters.w_o().forward(&concat).expect("sizes fit");
        Attended { out, attn }
    });
    assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
}

#[test]
fn a_panic_is_told() {
    let verdict = EXERCISE
        .diagnose(|input| Attended { out: &input.query * &input.key, attn: vec![] });
    let Verdict::Unknown { difference, .. } = verdict else { panic!("{verdict:?}") };
    assert!(matches!(difference, Difference::Panic { .. }), "{difference:?}");
}

#[test]
fn a_difference_says_where_the_layer_goes_wrong() {
    let said =
        |answer: fn(&Input) -> Attended| EXERCISE.message(&EXERCISE.diagnose(answer));
    insta::assert_snapshot!(
        "too_wide",
        said(|input| {
            let Attended { out, attn } = Steps::RIGHT.run(input);
            Attended { out: out.resize_horizontally(12, 0.0), attn }
        })
    );
    insta::assert_snapshot!(
        "another_output",
        said(|input| {
            let Attended { out, attn } = Steps::RIGHT.run(input);
            Attended { out: out.map(f64::tanh), attn }
        })
    );
    insta::assert_snapshot!(
        "another_map",
        said(|input| {
            let share_out = |scores, mask: &Mask| softmax_rows(mask.apply(scores) * 2.0);
            Steps { share_out, ..Steps::RIGHT }.run(input)
        })
    );
}
