//! Heads that are ablated, against a layer whose head has no values.

use attention::Linear;
use variants::VariantAttention;

use crate::{Head, Part, ablate};

use super::*;

/// The layer with zeros as values of this head: W^V and its bias are zeros there.
fn without_values(layer: &VariantAttention, head: usize) -> VariantAttention {
    let mut projections = layer.projections().clone();
    let d_v = layer.sizes().dims.d_v();
    let mut weight = projections[2].weight.clone();
    weight.columns_mut(head * d_v, d_v).fill(0.0);
    let bias = projections[2].bias.as_ref().map(|bias| {
        let mut bias = bias.clone();
        bias.columns_mut(head * d_v, d_v).fill(0.0);
        bias
    });
    projections[2] = Linear::new(weight, bias).unwrap();
    VariantAttention::new(layer.sizes(), projections, layer.changes().clone()).unwrap()
}

#[test]
fn a_head_that_is_off_puts_out_zeros_until_it_is_put_back() {
    for name in ["marian-1", "bart-1", "mbart-1", "t5-1"] {
        let mut model: AsRead = Translator::load(model(name)).unwrap();
        let whole = model.clone();
        for (part, layer) in [(Part::Source, 1), (Part::Written, 2), (Part::Cross, 0)] {
            let mut readable = whole.clone();
            let block = match part {
                Part::Source => &mut readable.encoder.blocks[layer],
                _ => &mut readable.decoder.blocks[layer],
            };
            let attention = match (part, &mut block.cross) {
                (Part::Cross, Some(cross)) => &mut cross.function,
                _ => &mut block.attention.function,
            };
            *attention = without_values(attention, 1);
            let off = [Head { part: Some(part), layer, head: 1 }];
            let kept = ablate(&mut model, &off, |_| None).unwrap();
            let found = logits(&model);
            let off = apart(&found, &logits(&readable));
            let effect = apart(&found, &logits(&whole));
            println!("{name}, {} {layer}.1: {off:.1e}, effect {effect:.1e}", part.name());
            assert!(off < 1e-12 && effect > 1e-3, "{name}: {off:e} {effect:e}");
            kept.put_back(&mut model);
            assert_eq!(model, whole);
        }
    }
}

#[test]
fn heads_that_are_not_there_change_nothing() {
    let mut model: AsRead = Translator::load(model("bart-1")).unwrap();
    let whole = model.clone();
    let mut refused = |part, layer, head| {
        let fits = Head { part: Some(Part::Source), layer: 0, head: 0 };
        let heads = [fits, Head { part, layer, head }];
        ablate(&mut model, &heads, |_| None).unwrap_err().to_string()
    };
    insta::assert_snapshot!(refused(Some(Part::Source), 2, 0), @"there are 2 layers, 0 to 1: layer 2 does not exist");
    insta::assert_snapshot!(refused(Some(Part::Cross), 3, 0), @"there are 3 layers, 0 to 2: layer 3 does not exist");
    insta::assert_snapshot!(refused(Some(Part::Source), 1, 4), @"there are 4 heads, 0 to 3: head 4 does not exist");
    insta::assert_snapshot!(refused(Some(Part::Written), 1, 3), @"there are 3 heads, 0 to 2: head 3 does not exist");
    insta::assert_snapshot!(refused(None, 1, 3), @r#""1.3" is no head: a head is its part (source, written or cross), its layer and its number, as in cross 5.7"#);
    assert_eq!(model, whole);
}
