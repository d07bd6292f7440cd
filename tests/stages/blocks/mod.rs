//! A model proves a stage too: blocks on blocks, whichever stage is the attention in them.

mod pytorch;

use attention::{
    Batch, Dims, LayerParameters, Mask, MultiHeadAttention, Rng, SeedableRng,
    max_abs_diff, random_matrix,
};
use block::{
    Block, DecoderBlock, DecoderMasks, FeedForward, LayerNorm, Norm, Stack, StackPass,
    Sublayer,
};
use fused_heads::FusedAttention;

use crate::cases::every_stage_and_batched;

const N_TOKENS: usize = 7;
const D_MODEL: usize = 12;

/// What one block holds.
type Parts = (LayerParameters, FeedForward);

fn parts() -> Vec<Parts> {
    let rng = &mut Rng::seed_from_u64(1);
    let dims = Dims::with_head_sizes(D_MODEL, 3, 5, 2).unwrap();
    let mut block = || {
        let parameters = LayerParameters::random(dims, true, rng);
        (parameters, FeedForward::random(D_MODEL, 20, rng))
    };
    (0..3).map(|_| block()).collect()
}

/// A stack whose attention `stage` makes of the parameters.
fn stack<A>(norm: &Norm, stage: impl Fn(&LayerParameters) -> A) -> Stack<A> {
    let blocks = parts().into_iter().map(|(parameters, feed_forward)| Block {
        attention: Sublayer::new(stage(&parameters), norm.clone()),
        feed_forward: Some(Sublayer::new(feed_forward, norm.clone())),
    });
    Stack { blocks: blocks.collect(), last_norm: norm.get().cloned() }
}

#[test]
fn every_stage_gives_the_same_hidden_states_and_maps() {
    let rng = &mut Rng::seed_from_u64(2);
    let x = Batch::new(2, random_matrix(2 * N_TOKENS, D_MODEL, 1.0, rng)).unwrap();
    let masks = [Mask::Causal, Mask::FirstKeys(4)];
    let identity = LayerNorm::identity(D_MODEL);
    for norm in [Norm::None, Norm::Before(identity.clone()), Norm::After(identity)] {
        let fused = stack(&norm, FusedAttention::new);
        let pass = StackPass::forward(&fused, &x, &masks).unwrap();
        for i in 0..every_stage_and_batched(&parts()[0].0).len() {
            let one = |p: &LayerParameters| every_stage_and_batched(p).swap_remove(i);
            let stack = stack(&norm, one);
            let name = stack.blocks[0].attention.function.name();
            let mut worst: f64 = 0.0;
            for (s, mask) in masks.iter().enumerate() {
                let layers = stack.forward(x.sequence(s).into_owned(), mask).unwrap();
                let expected = pass.out().rows(s * N_TOKENS, N_TOKENS).into_owned();
                worst = worst.max(max_abs_diff(layers.out(), &expected).unwrap());
                for (maps, pass) in layers.attn.iter().zip(pass.blocks()) {
                    for (map, expected) in maps.iter().zip(&pass.attn()[s]) {
                        worst = worst.max(max_abs_diff(map, expected).unwrap());
                    }
                }
            }
            assert!(worst < 1e-12, "{name} against fused: max |Δ| = {worst:e}");
        }
    }
}

/// A decoder that reads another text, whichever stage is in both of its attentions.
#[test]
fn every_stage_reads_another_text_alike() {
    let rng = &mut Rng::seed_from_u64(3);
    let y = random_matrix(N_TOKENS, D_MODEL, 1.0, rng);
    let memory = random_matrix(N_TOKENS + 2, D_MODEL, 1.0, rng);
    let masks = DecoderMasks { own: &Mask::Causal, memory: &Mask::FirstKeys(8) };
    let parameters: Vec<_> = parts().into_iter().map(|(p, _)| p).collect();
    let around = |parameters: &LayerParameters| {
        let norm = Norm::Before(LayerNorm::identity(D_MODEL));
        Sublayer::new(parameters.clone(), norm)
    };
    let block = DecoderBlock {
        attention: around(&parameters[0]),
        cross_attention: around(&parameters[1]),
        feed_forward: Some(Sublayer::new(parts().remove(2).1, Norm::None)),
    };
    let fused = block.with_attention(FusedAttention::new);
    let expected = fused.forward(&y, &memory, masks).unwrap();
    for i in 0..every_stage_and_batched(&parameters[0]).len() {
        let stage = block.with_attention(|p| every_stage_and_batched(p).swap_remove(i));
        let found = stage.forward(&y, &memory, masks).unwrap();
        let mut worst = max_abs_diff(&found.out, &expected.out).unwrap();
        let maps = found.attn.iter().chain(&found.cross);
        for (map, expected) in maps.zip(expected.attn.iter().chain(&expected.cross)) {
            worst = worst.max(max_abs_diff(map, expected).unwrap());
        }
        let name = stage.attention.function.name();
        assert!(worst < 1e-12, "{name} against fused: max |Δ| = {worst:e}");
    }
}
