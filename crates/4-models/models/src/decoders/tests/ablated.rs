//! Heads that put out something else: as the ablation in the weights has it, beside draws
//! that a planted effect beats and no effect does not, and patched from another text.

use ablation::odds::BesideDraws;
use attention::{Mask, Matrix};
use model_files::Sequence;

use super::{names, tiny, with_constants, without_heads};
use crate::Head;
use crate::decoders::AsRead;
use crate::decoders::study::{Draws, Effect, HeadOfLayer, Patching};

const IDS: [usize; 9] = [5, 90, 17, 3, 90, 17, 41, 8, 66];
const N_HEADS: usize = 4;
const JOB: HeadOfLayer = (1, 2);

/// The model in which but one head of the layers from `first` on put out zeros.
fn with_one_job(first: usize) -> AsRead {
    let all = (first..3).flat_map(|layer| (0..N_HEADS).map(move |i| (layer, i)));
    let idle: Vec<_> = all.filter(|&it| it != JOB).collect();
    without_heads(&tiny("llama-1"), &idle)
}

#[test]
fn a_pass_keeps_what_the_forward_pass_gives() {
    for name in names() {
        let model: AsRead = tiny(&name);
        let pass = model.pass(&IDS).unwrap();
        assert_eq!(pass.layers, model.forward(&Sequence::new(IDS.to_vec())).unwrap());
        let all: Vec<HeadOfLayer> = (0..3).flat_map(|l| [(l, 0), (l, 3)]).collect();
        assert_eq!(model.ablated(&pass, &all, &pass.concats).unwrap(), pass.layers);
        let logits = model.logits(pass.layers.out()).unwrap();
        let of = model.logits_of(pass.layers.out(), &[3, 96]).unwrap();
        assert!((logits.column(3) - of.column(0)).amax() < 1e-12, "{name}");
        assert!((logits.column(96) - of.column(1)).amax() < 1e-12, "{name}");
    }
}

/// Two ways to the same: in the weights, and in the pass.
#[test]
fn zeros_and_means_are_those_of_the_ablation_in_the_weights() {
    let heads: [HeadOfLayer; 3] = [(0, 1), (1, 3), (1, 0)];
    let mut largest: f64 = 0.0;
    for name in names() {
        let model: AsRead = tiny(&name);
        let pass = model.pass(&IDS).unwrap();
        let means = model.mean_outputs(&[vec![1, 2, 3, 4], vec![9, 8]]).unwrap();
        let mean = |it: Head| Some(means[it.layer][it.head].clone());
        let ways = [
            (pass.zeros(), without_heads(&model, &heads)),
            (pass.average(&means), with_constants(&model, &heads, mean)),
        ];
        for (instead, in_weights) in ways {
            let found = model.ablated(&pass, &heads, &instead).unwrap();
            let sequence = Sequence::new(IDS.to_vec());
            let expected = in_weights.forward(&sequence).unwrap();
            let apart = (found.out() - expected.out()).amax();
            largest = largest.max(apart);
            assert!(apart < 1e-10, "{name}: {apart:e}");
            assert!((found.out() - pass.layers.out()).amax() > 1e-4, "{name}");
        }
    }
    println!("in the pass and in the weights: max |Δ| = {largest:.1e}");
}

/// What an ablation changes, beside draws: the next token, and the later maps.
fn beside(model: &AsRead, heads: &[HeadOfLayer]) -> [BesideDraws; 2] {
    let pass = model.pass(&IDS).unwrap();
    let zeros = pass.zeros();
    let effect = |heads: &[HeadOfLayer]| model.effect(&pass, heads, &zeros).unwrap();
    let whole = effect(&[]);
    let draws = Draws::new(heads, N_HEADS, 20, 0);
    let all: Vec<Effect> = draws.sets.iter().map(|set| effect(set)).collect();
    let of = |measure: &dyn Fn(&Effect) -> f64| BesideDraws {
        observed: measure(&effect(heads)),
        draws: all.iter().map(measure).collect(),
    };
    [of(&|it| it.next_moved(&whole)), of(&|it| it.later_moved(heads))]
}

#[test]
fn a_head_that_does_all_is_above_every_draw_and_idle_heads_are_above_none() {
    let planted = with_one_job(1);
    let [next, maps] = beside(&planted, &[JOB]);
    assert!(next.observed > 1e-6 && next.n_below() == 3, "{next:?}");
    assert!(maps.observed > 1e-9 && maps.n_below() == 3, "{maps:?}");
    assert_eq!((next.range(), maps.range()), ([0.0; 2], [0.0; 2]));
    // Of an idle head nothing is found, and the control, which can draw the other, says so.
    let [next, maps] = beside(&planted, &[(1, 0)]);
    assert_eq!((next.observed, maps.observed), (0.0, 0.0));
    assert_eq!((next.n_below(), maps.n_below(), next.p()), (0, 0, 1.0));
    assert!(next.range()[1] > 1e-6, "{next:?}");
}

#[test]
fn only_maps_above_the_lowest_head_move() {
    let model = tiny("llama-1");
    let pass = model.pass(&IDS).unwrap();
    let effect = model.effect(&pass, &[(1, 0), (2, 1)], &pass.zeros()).unwrap();
    let moves: Vec<bool> =
        effect.moved.iter().map(|of| of.iter().all(|&it| it > 1e-6)).collect();
    assert_eq!(moves, [false, false, true]);
    assert_eq!(effect.moved[..2].concat(), [0.0; 8]);
    let none = model.effect(&pass, &[(2, 1)], &pass.zeros()).unwrap();
    assert!(none.later_moved(&[(2, 1)]).is_nan() && none.losses.len() == 8);
    let less = without_heads(&model, &[(2, 1)]);
    assert_eq!(none.losses, less.losses(&IDS, &Mask::Causal).unwrap());
}

/// The texts differ in an early token, and one head alone reads it for others.
#[test]
fn the_head_that_carries_the_difference_carries_all_of_it_and_others_none() {
    let planted = with_one_job(0);
    let from = [5, 90, 17, 3, 41, 8, 66];
    let to = [5, 22, 17, 3, 41, 8, 66];
    let patching = Patching::new(&planted, &from, &to, [30, 60]).unwrap();
    let [a, b] = patching.margins();
    assert!((a - b).abs() > 1e-6, "{a} {b}");
    let unrelated = planted.pass(&[70, 71, 72, 73, 74, 75, 76]).unwrap();
    for layer in 0..3 {
        for head in (0..N_HEADS).map(|i| (layer, i)) {
            let share = patching.share(&[head]).unwrap();
            let expected = f64::from(u8::from(head == JOB));
            assert!((share - expected).abs() < 1e-9, "{head:?}: {share}");
        }
    }
    // From a text that has nothing to do with it, the same head carries something else.
    let other = patching.share_by(&[JOB], &unrelated.concats).unwrap();
    assert!((other - 1.0).abs() > 0.1, "{other}");
    let refused = Patching::new(&planted, &from, &to[..6], [30, 60]).unwrap_err();
    insta::assert_snapshot!(refused, @"one text has 7 tokens and the other 6: what a head puts out is put into the other text token by token, so they need as many");
}

#[test]
fn heads_and_concatenations_that_do_not_fit_are_refused() {
    let model = tiny("llama-1");
    let pass = model.pass(&IDS).unwrap();
    let refused = |heads: &[HeadOfLayer], instead: &[Matrix]| {
        model.ablated(&pass, heads, instead).unwrap_err().to_string()
    };
    insta::assert_snapshot!(refused(&[(3, 0)], &pass.concats), @"there are 3 layers, 0 to 2: layer 3 does not exist");
    insta::assert_snapshot!(refused(&[(0, 4)], &pass.concats), @"there are 4 heads, 0 to 3: head 4 does not exist");
    insta::assert_snapshot!(refused(&[(0, 0)], &pass.concats[..2]), @"the list of concatenations has 2 entries, expected 3");
    let short = model.pass(&IDS[..4]).unwrap();
    insta::assert_snapshot!(refused(&[(0, 0)], &short.concats), @"the concatenation of a layer has shape (4, 24), expected (9, 24)");
}
