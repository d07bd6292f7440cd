//! One path alone: what heads read from another pass, and who notices.

use attention::max_abs_diff;
use block::Layers;
use model_files::Sequence;
use variants::Entries;

use super::{tiny, without_heads};
use crate::decoders::AsRead;
use crate::decoders::study::{HeadOfLayer, Input};

const IDS: [usize; 7] = [5, 90, 17, 3, 90, 17, 41];
const INPUTS: [Input; 3] = [Input::Queries, Input::Keys, Input::Values];

fn pass(model: &AsRead) -> Layers {
    model.forward(&Sequence::new(IDS.to_vec())).unwrap()
}

/// The model without head 1 of layer 0.
fn less(model: &AsRead) -> AsRead {
    without_heads(model, &[(0, 1)])
}

fn patched(model: &AsRead, heads: &[HeadOfLayer], input: Input) -> Layers {
    model.patched(&pass(model), heads, input, &pass(&less(model))).unwrap()
}

/// The layers whose hidden states are others than those of the whole model.
fn moved(whole: &Layers, other: &Layers) -> Vec<usize> {
    let moved = |l: &usize| whole.hidden[*l] != other.hidden[*l];
    (0..whole.hidden.len()).filter(moved).collect()
}

#[test]
fn a_pass_patched_by_itself_is_that_pass() {
    let model = tiny("llama-1");
    let whole = pass(&model);
    for input in INPUTS {
        let same = model.patched(&whole, &[(0, 2), (2, 3)], input, &whole).unwrap();
        assert_eq!(same, whole, "{input:?}");
    }
    assert_eq!(patched(&model, &[], Input::Keys), whole);
}

/// Nothing stands between the ablated head and layer 1 but layer 0's own feed-forward.
#[test]
fn heads_that_are_patched_have_other_maps_and_no_others_of_their_layer() {
    let model = tiny("llama-1");
    let whole = pass(&model);
    for input in INPUTS {
        let cut = patched(&model, &[(1, 0), (1, 2)], input);
        let changed = |l: usize| -> Vec<usize> {
            (0..4).filter(|&i| cut.attn[l][i] != whole.attn[l][i]).collect()
        };
        assert_eq!(moved(&whole, &cut), [2, 3], "{input:?}");
        let expected: &[usize] = if input == Input::Values { &[] } else { &[0, 2] };
        assert_eq!(changed(1), expected, "{input:?}");
        assert_eq!(changed(2), [0, 1, 2, 3], "{input:?}");
    }
}

/// Heads whose queries are zero attend evenly, whatever their keys are: what the ablated head
/// did can reach them by their values alone.
#[test]
fn a_path_that_leads_nowhere_is_not_missed_and_the_planted_one_is() {
    let mut model = tiny("llama-1");
    model.blocks[1].attention.function.entries_mut()[0].fill(0.0);
    let whole = pass(&model);
    let all = [0, 1, 2, 3].map(|i| (1, i));
    assert_eq!(moved(&whole, &pass(&less(&model))), [1, 2, 3]);
    let by_keys = max_abs_diff(patched(&model, &all, Input::Keys).out(), whole.out());
    assert!(by_keys.unwrap() < 1e-12);
    assert_eq!(moved(&whole, &patched(&model, &all, Input::Values)), [2, 3]);
}

#[test]
fn a_pass_that_is_resumed_is_the_whole_pass() {
    let model = tiny("llama-1");
    let whole = pass(&model);
    for first in 0..=3 {
        assert_eq!(model.resumed(&whole, first).unwrap(), whole, "{first}");
    }
    let less = less(&model);
    assert_eq!(less.resumed(&whole, 0).unwrap(), pass(&less));
}

#[test]
fn heads_and_passes_of_other_models_are_refused() {
    let model = tiny("llama-1");
    let whole = pass(&model);
    let refused = |heads: &[HeadOfLayer], other: &Layers| {
        model.patched(&whole, heads, Input::Keys, other).unwrap_err().to_string()
    };
    insta::assert_snapshot!(refused(&[(3, 0)], &whole), @"there are 3 layers, 0 to 2: layer 3 does not exist");
    insta::assert_snapshot!(refused(&[(0, 4)], &whole), @"there are 4 heads, 0 to 3: head 4 does not exist");
    let short = whole.up_to(1);
    insta::assert_snapshot!(refused(&[(0, 1)], &short), @"the list of hidden states has 2 entries, expected 4");
}
