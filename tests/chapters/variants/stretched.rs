//! Ten models with rotary positions, stretched.

use lessons::variants::ahead::{Against, Verdict};
use lessons::variants::places::places;
use lessons::variants::stretched::{OfStretch, stretched};
use training::changed::Place;

use crate::quote::{assert_quote, values};

#[test]
fn stretched_positions_on_longer_texts() {
    let (ways, _) = stretched().unwrap();
    let [as_trained, interpolated, ntk, yarn] = &ways[..] else { panic!() };
    let mut least = 10;
    for at in 2..5 {
        for of in [ntk, yarn] {
            let against = against(of, as_trained, at);
            assert_eq!(against.verdict(), Verdict::Ahead, "{} {at}", of.name);
            least = least.min(against.more);
        }
        assert_eq!(
            against(interpolated, as_trained, at).verdict(),
            Verdict::Behind,
            "{at}"
        );
    }
    for (at, scores) in interpolated.tuned.iter().enumerate() {
        let against = Against::of(scores, &as_trained.tuned[at]);
        assert_eq!(against.verdict(), Verdict::Behind, "{at}");
    }
    let quoted = [("ahead_least", least), ("tuned_steps", 150)];
    assert_quote!("variants_stretched_values", values(&quoted));
}

fn against(of: &OfStretch, as_trained: &OfStretch, at: usize) -> Against {
    Against::of(&of.scores[at], &as_trained.scores[at])
}

/// Other texts move no verdict, and the wrong pairing is seen at every length.
#[test]
fn the_comparison_fires_on_the_wrong_pairing_and_not_on_other_texts() {
    let (ways, controls) = stretched().unwrap();
    let [others, wrong] = &controls[..] else { panic!() };
    for at in 0..5 {
        assert_eq!(against(others, &ways[0], at).verdict(), Verdict::Undecided, "{at}");
        assert_eq!(against(wrong, &ways[0], at).verdict(), Verdict::Behind, "{at}");
    }
}

/// They are the models of the other table; trained again, so to rounding.
#[test]
fn as_trained_they_are_the_models_of_the_length_test() {
    let all = places().unwrap();
    let rotary = all.iter().find(|of| of.name == Place::Rotary.name()).unwrap();
    let (ways, _) = stretched().unwrap();
    for (at, scores) in rotary.scores.iter().chain([&rotary.far]).enumerate() {
        for (a, b) in scores.iter().zip(&ways[0].scores[at]) {
            assert!((a - b).abs() < 0.01, "{a} {b}");
        }
    }
}
