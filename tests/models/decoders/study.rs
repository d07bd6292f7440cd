//! Losses, and heads taken away, each against another way to the same number.

use attention::{Mask, MultiHeadAttention};
use model_files::Sequence;
use models::decoders::study::{Merge, ablated_layer, merged};
use models::decoders::{AsRead, Decoder};
use variants::{Changes, Positions, VariantAttention, Window};

use super::{each, ids, worst};
use crate::encoders::models;
use stages::cases::assert_close;

fn llama() -> AsRead {
    Decoder::load(models().join("llama-1")).unwrap()
}

#[test]
fn a_loss_is_minus_the_logarithm_of_what_softmax_gives_the_next_token() {
    for name in &each() {
        let model: AsRead = Decoder::load(models().join(name)).unwrap();
        let ids = ids(23);
        let layers = model.forward(&Sequence::new(ids.clone())).unwrap();
        let logits = model.logits(layers.out()).unwrap();
        let losses = model.losses(&ids, &Mask::Causal).unwrap();
        assert_eq!(losses.len(), 22);
        let apart = losses.iter().enumerate().map(|(i, loss)| {
            let sum: f64 = logits.row(i).iter().map(|logit| logit.exp()).sum();
            (loss + (logits[(i, ids[i + 1])].exp() / sum).ln()).abs()
        });
        assert_close(format!("{name}, losses"), worst(apart), 1e-10);
    }
    assert!(llama().losses(&ids(23), &Mask::FirstKeys(24)).is_err());
    assert!(llama().losses(&[], &Mask::Causal).is_err());
}

/// A window on the mask is a window in the layer.
#[test]
fn a_window_by_its_mask_is_the_window_of_the_layer() {
    let mut model = llama();
    let ids = ids(23);
    let window = Window { right: Some(0), n_sinks: 1, ..Window::last(4).unwrap() };
    let by_mask = model.losses(&ids, &window.mask(&Positions::new(23, 23))).unwrap();
    let whole = model.losses(&ids, &Mask::Causal).unwrap();
    for block in &mut model.blocks {
        let changes = Changes {
            window: Some(window),
            ..block.attention.function.changes().clone()
        };
        block.attention.function =
            block.attention.function.with_changes(changes).unwrap();
    }
    let by_layer = model.losses(&ids, &Mask::Causal).unwrap();
    let apart = |a: &[f64], b: &[f64]| worst(a.iter().zip(b).map(|(a, b)| (a - b).abs()));
    assert_close("by mask and by layer", apart(&by_mask, &by_layer), 1e-12);
    assert!(apart(&by_mask, &whole) > 1e-3);
}

/// On one token a head says one thing: replaced by it, nothing changes. Replaced by zeros,
/// the layer has lost what the head added.
#[test]
fn a_head_that_is_replaced_by_what_it_says_is_not_missed() {
    let mut model = llama();
    let text = vec![ids(1)];
    let means = model.mean_outputs(&text).unwrap();
    let out = |model: &AsRead| {
        model.forward(&Sequence::new(text[0].clone())).unwrap().out().clone()
    };
    let whole = out(&model);
    for (layer, means) in means.into_iter().enumerate() {
        for (head, mean) in means.into_iter().enumerate() {
            let attention = model.blocks[layer].attention.function.clone();
            let mut with = |instead| {
                let less = ablated_layer(&attention, &[(head, instead)]).unwrap();
                model.blocks[layer].attention.function = less;
                let found = (out(&model) - &whole).amax();
                model.blocks[layer].attention.function = attention.clone();
                found
            };
            assert_close(format!("{layer}.{head} replaced"), with(Some(mean)), 1e-12);
            assert!(with(None) > 1e-6, "{layer}.{head} is missed");
        }
    }
    let n_heads = model.blocks[0].attention.function.dims().n_heads();
    assert!(
        ablated_layer(&model.blocks[0].attention.function, &[(n_heads, None)]).is_err()
    );
}

/// Merged to as many as there are, nothing changes; a decoder with merged heads goes on.
#[test]
fn merged_heads_fit_the_model() {
    let mut model = llama();
    let groups = model.blocks[0].attention.function.sizes().groups.n_kv_heads();
    let same = merged(&model.blocks[0].attention.function, groups, Merge::Mean).unwrap();
    assert_eq!(same, model.blocks[0].attention.function);
    for block in &mut model.blocks {
        block.attention.function =
            merged(&block.attention.function, 1, Merge::Mean).unwrap();
        assert_eq!(block.attention.function.sizes().groups.n_kv_heads(), 1);
    }
    let losses = model.losses(&ids(23), &Mask::Causal).unwrap();
    assert!(losses.iter().all(|loss| loss.is_finite()));
}

/// Heads of keys and values that are all alike are merged for nothing, and others are not.
#[test]
fn alike_heads_are_merged_for_nothing_and_others_are_not() {
    let ids = ids(23);
    let losses = |model: &AsRead| model.losses(&ids, &Mask::Causal).unwrap();
    let apart = |a: &AsRead, b: &AsRead| {
        worst(losses(a).iter().zip(losses(b)).map(|(a, b)| (a - b).abs()))
    };
    let of_layers =
        |model: &AsRead, change: &dyn Fn(&VariantAttention) -> VariantAttention| {
            let mut changed = model.clone();
            for block in &mut changed.blocks {
                block.attention.function = change(&block.attention.function);
            }
            changed
        };
    let (model, alike) = (llama(), of_layers(&llama(), &with_alike_heads));
    for merge in [Merge::Mean, Merge::First] {
        let merged = |layer: &VariantAttention| merged(layer, 1, merge).unwrap();
        assert_close("heads alike", apart(&of_layers(&alike, &merged), &alike), 1e-12);
        assert!(apart(&of_layers(&model, &merged), &model) > 1e-3, "{merge:?}");
    }
}

/// The layer with the first head of keys and values in place of each.
fn with_alike_heads(layer: &VariantAttention) -> VariantAttention {
    let n_heads = layer.sizes().groups.n_kv_heads();
    let mut projections = layer.projections().clone();
    for linear in &mut projections[1..3] {
        let d = linear.weight.ncols() / n_heads;
        let first = linear.weight.columns(0, d).into_owned();
        assert!(linear.bias.is_none(), "a llama has none");
        for head in 1..n_heads {
            linear.weight.columns_mut(head * d, d).copy_from(&first);
        }
    }
    VariantAttention::new(layer.sizes(), projections, layer.changes().clone()).unwrap()
}
