//! W^O mixes: before it heads are apart, after it no output is without any head.

use attention::{Linear, Mask, Matrix};
use per_head::{PerHeadAttention, concat};

use stages::cases::{every_stage_and_batched, layer, tokens, with_w_o};

const D_MODEL: usize = 24;
const HEADS: usize = 4;
const PERTURBED: usize = 2;

/// Which columns of two matrices differ anywhere.
fn moved(a: &Matrix, b: &Matrix) -> Vec<bool> {
    a.column_iter().zip(b.column_iter()).map(|(a, b)| a != b).collect()
}

/// The same layer with the values of one head turned round.
fn perturbed(layer: &attention::LayerParameters) -> attention::LayerParameters {
    let mut heads = layer.heads().to_vec();
    heads[PERTURBED].w_v.weight *= -1.5;
    attention::LayerParameters::new(heads, layer.w_o().clone()).unwrap()
}

#[test]
fn before_w_o_one_head_moves_its_block_alone() {
    let (layer, x) = (layer(D_MODEL, HEADS, 1), tokens(5, D_MODEL, 2));
    let before = |layer| {
        let heads = PerHeadAttention::new(layer).heads(&x, &x, &x, &Mask::None).unwrap();
        concat(heads.iter().map(|head| &head.out)).unwrap()
    };
    let moved = moved(&before(layer.clone()), &before(perturbed(&layer)));
    let d_v = D_MODEL / HEADS;
    let own_block: Vec<bool> = (0..D_MODEL).map(|j| j / d_v == PERTURBED).collect();
    assert_eq!(moved, own_block);
}

#[test]
fn after_w_o_one_head_moves_every_output() {
    let (layer, x) = (layer(D_MODEL, HEADS, 1), tokens(5, D_MODEL, 2));
    let changed = perturbed(&layer);
    for (a, b) in
        every_stage_and_batched(&layer).iter().zip(every_stage_and_batched(&changed))
    {
        let after = |stage: &dyn attention::MultiHeadAttention| {
            stage.self_attend(&x, &Mask::None).unwrap().out
        };
        assert_eq!(
            moved(&after(a.as_ref()), &after(b.as_ref())),
            [true; D_MODEL],
            "{}",
            a.name()
        );
    }
}

#[test]
fn without_mixing_heads_stay_apart_to_the_end() {
    let identity = Linear::new(Matrix::identity(D_MODEL, D_MODEL), None).unwrap();
    let layer = with_w_o(&layer(D_MODEL, HEADS, 1), identity);
    let (x, changed) = (tokens(5, D_MODEL, 2), perturbed(&layer));
    for (a, b) in
        every_stage_and_batched(&layer).iter().zip(every_stage_and_batched(&changed))
    {
        let a = a.self_attend(&x, &Mask::None).unwrap().out;
        let b = b.self_attend(&x, &Mask::None).unwrap().out;
        assert_eq!(moved(&a, &b).iter().filter(|&&m| m).count(), D_MODEL / HEADS);
    }
}
