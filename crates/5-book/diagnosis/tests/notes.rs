//! What is said beside a name: of tensors that were recorded at another place, of NaN, of
//! where an unknown layer differs, of what tells mistakes apart.

mod common;

use std::ops::AddAssign;

use attention::{Matrix, Rng, SeedableRng, random_matrix};
use common::{Layer, apart, ids, mistakes, self_attention};
use diagnosis::recipe::Recipe;
use diagnosis::{
    Corner, EmptyRow, Precision, State, Verdict, mistake, separate, showing,
};

/// Three heads on 2 sequences of 6 tokens, in float32, with these mistakes.
fn layer(ids: &[&str]) -> Layer {
    let mut layer = self_attention([2, 6, 12, 3], &mut Rng::seed_from_u64(3));
    layer.add(State::Output, ids);
    layer
}

/// Noise of this shape.
fn noise(rows: usize, columns: usize, seed: u64) -> Matrix {
    random_matrix(rows, columns, 1.0, &mut Rng::seed_from_u64(seed))
}

#[test]
fn scores_may_be_recorded_before_they_are_divided() {
    let mut layer = layer(&[]);
    layer.add(State::Attn, &[]);
    layer.add(State::Scores, &["not-scaled"]);
    let diagnosis = layer.diagnosis();
    assert_eq!(diagnosis.verdict, Verdict::Right, "{:?}", ids(&diagnosis));
    assert!(diagnosis.remarks[0].contains("before they are divided"));
    // Where the weights are made of them, it is the mistake.
    layer.add(State::Attn, &["not-scaled"]);
    layer.add(State::Output, &["not-scaled"]);
    let diagnosis = layer.diagnosis();
    assert_eq!(ids(&diagnosis), [["not-scaled"]]);
    assert_eq!(diagnosis.first_difference, Some(State::Scores));
}

#[test]
fn of_noise_on_a_condition_no_mistake_is_told() {
    let mut layer = self_attention([2, 6, 12, 3], &mut Rng::seed_from_u64(3));
    layer.intent.causal = Some(Corner::TopLeft);
    layer.add(State::Output, &[]);
    for m in layer.record.tensors.get_mut(&State::Output).unwrap() {
        let noise = |i: usize| 3e-4 * (i as f64 * 12.9898).sin();
        let numbers = m.iter_mut().enumerate();
        numbers.for_each(|(i, x)| *x = f64::from((*x + noise(i)) as f32));
    }
    let condition = layer.diagnosis().condition.unwrap();
    assert!(condition.only_if.contains("multiplies in"), "{condition:?}");
    assert_eq!(condition.otherwise, None);
}

#[test]
fn a_row_that_alone_differs_is_no_rounding() {
    let mut layer = self_attention([1, 64, 12, 3], &mut Rng::seed_from_u64(4));
    layer.add(State::Output, &[]);
    let of = |layer: &Layer| {
        let report = layer.diagnosis().tensors.remove(0);
        (report.verdict, report.distance.unwrap())
    };
    let (verdict, right) = of(&layer);
    assert_eq!(verdict, Verdict::Right);
    let mut row = layer.record.tensors.get_mut(&State::Output).unwrap()[0].row_mut(40);
    let sign = |c: usize| if c.is_multiple_of(2) { 1.0 } else { -1.0 };
    row.iter_mut().enumerate().for_each(|(c, x)| {
        *x = f64::from((*x + 72.0 * right.tolerance * sign(c)) as f32);
    });
    let (verdict, moved) = of(&layer);
    assert_ne!(verdict, Verdict::Right);
    // Of all rows together, as far as sums in another order may be.
    assert!(moved.rms < 10.0 * moved.tolerance, "{moved:?}");
}

#[test]
fn mistakes_that_show_in_several_tensors_are_named_once() {
    let three = ["q-bias-left-out", "softmax-over-queries", "output-not-transposed"];
    let biases = [State::Query, State::Key, State::Value];
    for (wrong, states) in [
        (&["biases-left-out"][..], &biases[..]),
        (&three, &[State::Query, State::Attn, State::Output]),
    ] {
        let mut layer = layer(wrong);
        states.iter().for_each(|state| layer.add(*state, wrong));
        let diagnosis = layer.diagnosis();
        let sets = ids(&diagnosis);
        assert!(sets.contains(&wrong.to_vec()), "{sets:?}");
        assert!(wrong.len() > 1 || sets.len() == 1, "{sets:?}");
        assert_eq!(diagnosis.first_difference, Some(State::Query));
    }
}

#[test]
fn a_row_without_keys_is_what_makes_nan() {
    let mut layer = layer(&[]);
    layer.record.masks.padding = Some(vec![vec![true; 6], vec![false; 6]]);
    let nan = layer.output_with(&[], EmptyRow::NaN).unwrap();
    let diagnosis = layer.diagnosed(nan);
    assert_eq!(diagnosis.verdict, Verdict::Right);
    assert_eq!(diagnosis.empty_row, Some(EmptyRow::NaN));
    assert!(diagnosis.remarks[0].contains("it is the mask"), "{:?}", diagnosis.remarks);
}

#[test]
fn an_overflow_of_float16_is_said() {
    let mut layer = layer(&[]);
    layer.record.precision = Precision::F16;
    layer.record.inputs.iter_mut().flatten().for_each(|x| *x *= 2000.0);
    let diagnosis = layer.diagnosed(vec![Matrix::from_element(6, 12, f64::NAN); 2]);
    assert_eq!(diagnosis.verdict, Verdict::Unknown, "{:?}", ids(&diagnosis));
    let remark = &diagnosis.remarks[0];
    assert!(remark.contains("scores has numbers beyond 65,504"), "{remark}");
}

#[test]
fn where_an_unknown_layer_differs_is_said() {
    let right = layer(&[]);
    let of = |change: &dyn Fn(&mut [Matrix])| {
        let mut output = right.record.output().to_vec();
        change(&mut output);
        let diagnosis = right.diagnosed(output);
        assert_eq!(diagnosis.verdict, Verdict::Unknown, "{:?}", ids(&diagnosis));
        diagnosis.places.unwrap().summary.join("; ")
    };
    // What head 1 adds, by its rows of W^O.
    let block = right.record.weights.output.as_ref().unwrap().weight.rows(4, 4);
    let of_head = of(&|all| all.iter_mut().for_each(|m| *m += noise(6, 4, 9) * block));
    insta::assert_snapshot!(of_head, @"only head 1 differs");
    let of_sequence = of(&|all| all[1] += noise(6, 12, 9));
    insta::assert_snapshot!(of_sequence, @"only sequence 1 differs");
    let late = |m: &mut Matrix| m.rows_mut(3, 3).add_assign(&noise(3, 12, 9));
    let from_token = of(&|all| all.iter_mut().for_each(late));
    insta::assert_snapshot!(from_token, @"tokens before 3 do not differ, those from 3 on do");
}

#[test]
fn noise_has_no_nearest_mistake_and_a_mistake_with_noise_has() {
    for seed in 0..20 {
        let noisy = |ids: &[&str], size: f64| {
            let mut layer = layer(ids);
            let rng = &mut Rng::seed_from_u64(seed);
            for m in layer.record.tensors.get_mut(&State::Output).unwrap() {
                *m += size * random_matrix::<f64>(6, 12, 1.0, rng);
            }
            let diagnosis = layer.diagnosis();
            assert_eq!(diagnosis.verdict, Verdict::Unknown, "{:?}", ids);
            let nearest = diagnosis.nearest.unwrap().mistakes;
            (nearest, diagnosis.places.unwrap().from)
        };
        for size in [0.01, 0.1, 1.0, 10.0] {
            let (nearest, from) = noisy(&[], size);
            assert!(nearest.is_empty(), "seed {seed}, {size}: {nearest:?}");
            assert_eq!(from, "what was meant");
        }
        let (nearest, from) = noisy(&["merged-without-transpose"], 0.02);
        assert_eq!(nearest, mistakes(&["merged-without-transpose"]), "seed {seed}");
        assert_eq!(from, "merged without transpose");
    }
}

#[test]
fn sequences_that_alone_differ_without_a_mask_may_be_padded() {
    let mut layer = layer(&[]);
    let last_are_padding = vec![true, true, true, true, false, false];
    layer.record.masks.padding = Some(vec![vec![true; 6], last_are_padding]);
    layer.add(State::Output, &[]);
    layer.record.masks.padding = None;
    let diagnosis = layer.diagnosis();
    assert_eq!(diagnosis.verdict, Verdict::Unknown);
    insta::assert_snapshot!(diagnosis.remarks.join("\n"), @"some sequences are right, and there is no mask: was a mask of padding meant? Put it in the file as key_padding_mask (batch, n_kv).");
    // With a mask it is not said, nor of what differs in all sequences.
    layer.record.masks.padding = Some(vec![vec![true; 6]; 2]);
    assert_eq!(layer.diagnosis().remarks.len(), 0);
    layer.record.masks.padding = None;
    let mut output = layer.record.output().to_vec();
    output.iter_mut().for_each(|m| m[(0, 0)] += 1.0);
    assert_eq!(layer.diagnosed(output).remarks.len(), 0);
}

/// Of a layer, whatever is wrong with it: a mistake more that could not show gives the same
/// answer, and each other one another.
#[test]
fn what_could_not_show_gives_the_same_answer() {
    let (mut n_hidden, mut n_other) = (0, 0);
    for seed in 0..12 {
        let layer = common::random_layer(&mut Rng::seed_from_u64(seed));
        let possible = layer.possible();
        let first = possible[seed as usize];
        let made = if seed % 3 == 0 { vec![] } else { vec![first] };
        let Some(output) = layer.output(&made) else { continue };
        let diagnosis = layer.diagnosed(output.clone());
        let found = diagnosis.explanations.first().cloned().unwrap_or_default();
        for mistake in possible {
            let both = [&found[..], &[mistake]].concat();
            let same = layer.output(&both).and_then(|it| apart(&it, &output));
            let same = same.is_some_and(|apart| apart < 1e-9);
            let is_hidden = diagnosis.invisible.contains(&mistake);
            let is_found =
                diagnosis.explanations.iter().flatten().any(|it| *it == mistake);
            let first = Recipe::with(&found);
            if is_found || mistake.applied(first) == first {
                assert!(!is_hidden, "{}", mistake.id);
                continue;
            }
            assert_eq!(is_hidden, same, "seed {seed}: {} beside {made:?}", mistake.id);
            n_hidden += usize::from(is_hidden);
            n_other += usize::from(!is_hidden);
        }
    }
    assert!(n_hidden > 50 && n_other > 300, "{n_hidden} hidden, {n_other} others");
}

#[test]
fn what_numbers_cannot_tell_another_input_does() {
    // In self-attention, keys from the query's input are the keys.
    let mut layer = layer(&["q-k-exchanged"]);
    let diagnosis = layer.diagnosis();
    assert!(diagnosis.explanations.len() > 1, "{:?}", ids(&diagnosis));
    let explanations = diagnosis.explanations;
    let separation = separate(&layer.record, &layer.intent, &explanations).unwrap();
    assert!(separation.changes[0].contains("other tokens"), "{:?}", separation.changes);
    layer.record = separation.record;
    for set in &explanations {
        let again = layer.diagnosed(layer.output(set).unwrap());
        assert_eq!(again.explanations, std::slice::from_ref(set));
    }
}

/// What rounding hides could not show either.
#[test]
fn what_changes_less_than_rounding_could_not_show() {
    for (precision, is_hidden) in [(Precision::F32, true), (Precision::F64, false)] {
        let mut layer = layer(&[]);
        layer.record.precision = precision;
        for linear in &mut layer.record.weights.projections {
            linear.bias.as_mut().unwrap().fill(1e-10);
        }
        let hidden = layer.diagnosed(layer.output(&[]).unwrap()).invisible;
        let bias = mistake("v-bias-left-out").unwrap();
        assert_eq!(hidden.contains(&bias), is_hidden, "{precision:?}");
    }
}

#[test]
fn what_could_not_show_does_in_another_input() {
    let mut layer = layer(&[]);
    layer.record.masks.padding = Some(vec![vec![true; 6]; 2]);
    let diagnosis = layer.diagnosis();
    assert_eq!(diagnosis.verdict, Verdict::Right, "{:?}", ids(&diagnosis));
    let showing = showing(&layer.record, &layer.intent, &diagnosis.invisible);
    let (separation, shown) = showing.unwrap();
    assert!(shown.contains(&mistake("padding-left-out").unwrap()), "{shown:?}");
    assert!(!shown.contains(&mistake("k-bias-left-out").unwrap()), "{shown:?}");
    layer.record = separation.record;
    for it in shown {
        let again = layer.diagnosed(layer.output(&[it]).unwrap());
        assert!(again.explanations.contains(&vec![it]), "{}: {:?}", it.id, ids(&again));
    }
}
