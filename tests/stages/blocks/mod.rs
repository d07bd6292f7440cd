//! A model proves a stage too: blocks on blocks, whichever stage is the attention in them.

mod pytorch;

use attention::{
    Batch, Dims, LayerParameters, Mask, MultiHeadAttention, Rng, SeedableRng,
    max_abs_diff, random_matrix,
};
use block::{Block, FeedForward, LayerNorm, Memory, Norms, Stack, StackPass, Sublayer};
use fused_heads::FusedAttention;

use stages::cases::every_stage_and_batched;

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
fn stack<A>(norms: &Norms, stage: impl Fn(&LayerParameters) -> A) -> Stack<A> {
    let blocks = parts().into_iter().map(|(parameters, feed_forward)| {
        let attention = Sublayer::new(stage(&parameters), norms.clone());
        Block::new(attention, Some(Sublayer::new(feed_forward, norms.clone())))
    });
    Stack { blocks: blocks.collect(), last_norm: norms.iter().next().cloned() }
}

#[test]
fn every_stage_gives_the_same_hidden_states_and_maps() {
    let rng = &mut Rng::seed_from_u64(2);
    let x = Batch::new(2, random_matrix(2 * N_TOKENS, D_MODEL, 1.0, rng)).unwrap();
    let masks = [Mask::Causal, Mask::FirstKeys(4)];
    let identity = LayerNorm::identity(D_MODEL);
    for norms in [Norms::none(), Norms::before(identity.clone()), Norms::after(identity)]
    {
        let fused = stack(&norms, FusedAttention::new);
        let pass = StackPass::forward(&fused, &x, &masks).unwrap();
        for i in 0..every_stage_and_batched(&parts()[0].0).len() {
            let one = |p: &LayerParameters| every_stage_and_batched(p).swap_remove(i);
            let stack = stack(&norms, one);
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
    let memory = Memory { tokens: &memory, mask: &Mask::FirstKeys(8) };
    let parameters: Vec<_> = parts().into_iter().map(|(p, _)| p).collect();
    let around = |parameters: &LayerParameters| {
        let norms = Norms::before(LayerNorm::identity(D_MODEL));
        Sublayer::new(parameters.clone(), norms)
    };
    let ffn = Sublayer::new(parts().remove(2).1, Norms::none());
    let block = Block::new(around(&parameters[0]), Some(ffn));
    let block = Block { cross: Some(around(&parameters[1])), ..block };
    let fused = block.with_attention(FusedAttention::new);
    let expected = fused.forward_reading(&y, &Mask::Causal, memory).unwrap();
    for i in 0..every_stage_and_batched(&parameters[0]).len() {
        let stage = block.with_attention(|p| every_stage_and_batched(p).swap_remove(i));
        let found = stage.forward_reading(&y, &Mask::Causal, memory).unwrap();
        let mut worst = max_abs_diff(&found.out, &expected.out).unwrap();
        let maps = found.attn.iter().chain(&found.cross);
        for (map, expected) in maps.zip(expected.attn.iter().chain(&expected.cross)) {
            worst = worst.max(max_abs_diff(map, expected).unwrap());
        }
        let name = stage.attention.function.name();
        assert!(worst < 1e-12, "{name} against fused: max |Δ| = {worst:e}");
    }
}
