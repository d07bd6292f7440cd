//! The masks on a model: what a right set gives, and which wrong ones a model shows.

use attention::{Dims, LayerParameters, Mask, Rng, SeedableRng, max_abs_diff};
use block::{
    Block, DecoderBlock, DecoderMasks, DecoderStack, EncoderDecoder, Norm, Stack,
    Sublayer,
};
use fused_heads::FusedAttention;

use super::super::inputs;
use super::*;
use crate::Verdict;

const D_MODEL: usize = 6;

fn model() -> EncoderDecoder<FusedAttention> {
    let rng = &mut Rng::seed_from_u64(1);
    let dims = Dims::new(D_MODEL, 2).unwrap();
    let mut attention = || {
        let layer = FusedAttention::new(&LayerParameters::random(dims, true, rng));
        Sublayer::new(layer, Norm::None)
    };
    let reads = Block { attention: attention(), feed_forward: None };
    let writes = DecoderBlock {
        attention: attention(),
        cross_attention: attention(),
        feed_forward: None,
    };
    EncoderDecoder {
        encoder: Stack { blocks: vec![reads], last_norm: None },
        decoder: DecoderStack { blocks: vec![writes], last_norm: None },
    }
}

/// What the model gives of a source, filled up to its length, under these masks.
fn masked(source: &Matrix, target: &Matrix, masks: ThreeMasks) -> Matrix {
    let ThreeMasks { encoder, own, cross } = masks;
    let [encoder, own, memory] = [encoder, own, cross].map(Mask::Allowed);
    let encoded = model().encode(source.clone(), &encoder).unwrap();
    let masks = DecoderMasks { own: &own, memory: &memory };
    model().decode(target.clone(), encoded.out(), masks).unwrap().out().clone()
}

/// What it gives token by token of the source without its padding: each time it is given the
/// target so far and no mask, and gives the last row.
fn alone(source: &Matrix, target: &Matrix) -> Matrix {
    let encoded = model().encode(source.clone(), &Mask::None).unwrap();
    let none = DecoderMasks { own: &Mask::None, memory: &Mask::None };
    let mut out = Matrix::zeros(target.nrows(), D_MODEL);
    for n in 1..=target.nrows() {
        let so_far = target.rows(0, n).into_owned();
        let decoded = model().decode(so_far, encoded.out(), none).unwrap();
        out.row_mut(n - 1).copy_from(&decoded.out().row(n - 1));
    }
    out
}

/// By how much masks move the model's output, over all cases; nothing where a mask does not
/// fit its map.
fn moved(masks: impl Fn(&Input) -> ThreeMasks) -> f64 {
    let of_case = |Case { input, .. }: &Case<Input>| {
        let masks = masks(input);
        if masks.cross.shape() != (input.n_target, input.n_source) {
            return 0.0;
        }
        let source = inputs::matrix(input.n_source, D_MODEL, 2);
        let target = inputs::matrix(input.n_target, D_MODEL, 3);
        let real = source.rows(0, input.source_length).into_owned();
        let of_batch = masked(&source, &target, masks);
        max_abs_diff(&of_batch, &alone(&real, &target)).expect("one shape")
    };
    cases().iter().map(of_case).fold(0.0, f64::max)
}

#[test]
fn under_the_right_masks_a_batch_gives_what_each_source_gives_alone() {
    let moved = moved(Input::right);
    assert!(moved < 1e-12, "{moved}");
}

/// All but one: what padding computes is read by nothing, so its rows may be blocked too.
#[test]
fn every_other_set_of_masks_moves_the_output() {
    let does_not_show =
        |mistake: &&crate::Mistake<Input, ThreeMasks>| moved(mistake.answer) < 1e-3;
    let silent: Vec<_> = EXERCISE.mistakes.iter().filter(does_not_show).collect();
    let silent: Vec<_> = silent.into_iter().map(|mistake| mistake.name).collect();
    assert_eq!(silent, ["blocks the encoder's rows of padding as well as its columns"]);
}

#[test]
fn no_row_of_a_right_set_is_without_a_key() {
    for Case { input, sizes, .. } in cases() {
        let ThreeMasks { encoder, own, cross } = input.right();
        for mask in [encoder, own, cross] {
            assert!(mask.row_iter().all(|row| row.iter().any(|&may| may)), "{sizes}");
        }
    }
}

/// The square case hides that a mask is another map's, and the others have other shapes.
#[test]
fn the_encoders_mask_on_the_cross_attention_is_right_where_both_are_as_long() {
    let verdict = EXERCISE.diagnose(|input: &Input| {
        let right = input.right();
        ThreeMasks { cross: right.encoder.clone(), ..right }
    });
    assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
}

/// It has another shape elsewhere, and is named by the numbers that it gives.
#[test]
fn the_decoders_own_mask_on_the_cross_attention_is_named() {
    let verdict = EXERCISE.diagnose(|input: &Input| {
        let right = input.right();
        ThreeMasks { cross: right.own.clone(), ..right }
    });
    let Verdict::Mistake { mistake, .. } = verdict else { panic!("{verdict:?}") };
    let name = "puts a causal mask on the cross-attention in place of the padding";
    assert_eq!(EXERCISE.mistakes[mistake].name, name);
}
