//! A decoder that reads another text: gradients to both sides, masks of both, every stage.

use attention::{
    Batch, Dims, LayerParameters, Mask, Matrix, Rng, SeedableRng, random_matrix,
};
use fused_heads::FusedAttention;

use super::{D_MODEL, ORDERS, Order, largest, random_norms, worst};
use crate::{
    Block, BlockPass, Dropout, EncoderDecoder, FeedForward, Memory, Stack,
    StackGradients, StackPass, Sublayer,
};
use gradients::Entries;

const N_SOURCE: usize = 4;
const N_TARGET: usize = 3;

/// Of the second sequence the last token of the source is padding, and the last of the target
/// too.
const SOURCE_MASKS: [Mask; 2] = [Mask::None, Mask::FirstKeys(N_SOURCE - 1)];

fn target_masks() -> [Mask; 2] {
    let padded = Mask::All(vec![Mask::Causal, Mask::FirstKeys(N_TARGET - 1)]);
    [Mask::Causal, padded]
}

fn model(order: Order) -> EncoderDecoder<FusedAttention> {
    let rng = &mut Rng::seed_from_u64(5);
    let dims = Dims::new(D_MODEL, 2).unwrap();
    let mut attention = || {
        let layer = FusedAttention::new(&LayerParameters::random(dims, true, rng));
        Sublayer::new(layer, random_norms(order, rng))
    };
    let layers: Vec<_> = (0..6).map(|_| attention()).collect();
    let mut layers = layers.into_iter();
    let mut attention = || layers.next().unwrap();
    let rng = &mut Rng::seed_from_u64(6);
    let mut feed_forward = || {
        let ffn = FeedForward::random(D_MODEL, 7, rng);
        Some(Sublayer::new(ffn, random_norms(order, rng)))
    };
    let blocks = (0..2).map(|_| Block::new(attention(), feed_forward()));
    let blocks = blocks.collect();
    let rng = &mut Rng::seed_from_u64(7);
    let mut last_norm = || random_norms(order, rng).iter().next().cloned();
    let encoder = Stack { blocks, last_norm: last_norm() };
    let mut feed = [None, feed_forward()].into_iter(); // a block can be without
    let blocks = (0..2).map(|_| {
        let own = attention();
        let block = Block::new(own, feed.next().unwrap());
        Block { cross: Some(attention()), ..block }
    });
    let decoder = Stack { blocks: blocks.collect(), last_norm: last_norm() };
    EncoderDecoder { encoder, decoder }
}

fn texts() -> [Batch; 2] {
    let rng = &mut Rng::seed_from_u64(8);
    [N_SOURCE, N_TARGET]
        .map(|n| Batch::new(2, random_matrix(2 * n, D_MODEL, 1.0, rng)).unwrap())
}

/// The source through the encoder, and what comes out as the decoder's memory.
fn encoded<'a>(
    model: &'a EncoderDecoder<FusedAttention>,
    source: &Batch,
) -> (StackPass<'a>, Batch) {
    let pass = StackPass::forward(&model.encoder, source, &SOURCE_MASKS).unwrap();
    let memory = Batch::new(2, pass.out().clone()).unwrap();
    (pass, memory)
}

fn decoded<'a>(
    model: &'a EncoderDecoder<FusedAttention>,
    target: &Batch,
    memory: &'a Batch,
) -> StackPass<'a> {
    let memory = (memory, &SOURCE_MASKS[..]);
    StackPass::forward_reading(&model.decoder, target, &target_masks(), memory).unwrap()
}

/// Σ out ⊙ probe, whose gradient with respect to out is the probe.
fn value(
    model: &EncoderDecoder<FusedAttention>,
    [source, target]: [&Batch; 2],
    probe: &Matrix,
) -> f64 {
    decoded(model, target, &encoded(model, source).1).out().dot(probe)
}

#[test]
fn every_gradient_of_both_sides_is_a_central_difference() {
    for order in ORDERS {
        let (mut model, texts) = (model(order), texts());
        let probe = random_matrix(2 * N_TARGET, D_MODEL, 1.0, &mut Rng::seed_from_u64(9));
        let both = texts.each_ref();
        let (encoded, memory) = encoded(&model, both[0]);
        let decoder = decoded(&model, both[1], &memory).backward(&probe).unwrap();
        let encoder = encoded.backward(decoder.d_memory().unwrap()).unwrap();
        let d = [encoder, decoder];
        let mut all = worst(&mut model, &d, |model| value(model, both, &probe));
        for (side, of_side) in d.each_ref().map(StackGradients::d_x).iter().enumerate() {
            let of_tokens = |tokens: &Matrix| {
                let mut moved = texts.clone();
                moved[side] = Batch::new(2, tokens.clone()).unwrap();
                value(&model, [&moved[0], &moved[1]], &probe)
            };
            all = all.max(worst(&mut texts[side].tokens().clone(), *of_side, of_tokens));
        }
        let relative = all / largest(&d);
        println!("{order:?}: {relative:e} of the largest gradient");
        assert!(relative < 1e-7, "{order:?}: {relative:e}");
        // What is padding of the source has part in nothing.
        assert!(d[0].d_x().row(2 * N_SOURCE - 1).amax() == 0.0);
        assert!(d[0].d_x().row(N_SOURCE - 1).amax() > 0.0);
    }
}

/// In training too, through the masks of three sub-layers, which are the same each time.
#[test]
fn every_gradient_of_a_block_with_dropout_is_a_central_difference() {
    type Layer = Block<FusedAttention>;
    fn pass<'a>(block: &'a Layer, target: &Batch, memory: &'a Batch) -> BlockPass<'a> {
        let dropout = &mut Dropout::new(0.3, Rng::seed_from_u64(4)).unwrap();
        let memory = Some((memory, &SOURCE_MASKS[..]));
        let own = target_masks();
        BlockPass::of(block, target.clone(), &own, memory, None, Some(dropout)).unwrap()
    }
    for order in ORDERS {
        let (model, [memory, target]) = (model(order), texts());
        let mut block = model.decoder.blocks[1].clone();
        let probe = random_matrix(2 * N_TARGET, D_MODEL, 1.0, &mut Rng::seed_from_u64(9));
        let d = pass(&block, &target, &memory).backward(&probe).unwrap();
        let of_memory = |tokens: &Matrix| {
            let memory = Batch::new(2, tokens.clone()).unwrap();
            pass(&block, &target, &memory).out().dot(&probe)
        };
        let d_memory = d.d_memory.as_ref().unwrap();
        let of_memory = worst(&mut memory.tokens().clone(), d_memory, of_memory);
        let of_block = |block: &Layer| pass(block, &target, &memory).out().dot(&probe);
        let relative = worst(&mut block, &d, of_block).max(of_memory) / largest(&d);
        println!("{order:?}, with dropout: {relative:e} of the largest gradient");
        assert!(relative < 1e-7, "{order:?}: {relative:e}");
    }
}

/// Where dropout leaves nothing of any sub-layer, a block is its residual.
#[test]
fn dropout_is_of_every_sublayer() {
    for order in [Order::None, Order::Before, Order::Both] {
        let (model, [memory, target]) = (model(order), texts());
        let dropout = &mut Dropout::new(1.0 - 1e-12, Rng::seed_from_u64(4)).unwrap();
        let block = &model.decoder.blocks[1];
        let (own, from) = (target_masks(), Some((&memory, &SOURCE_MASKS[..])));
        let pass = BlockPass::of(block, target.clone(), &own, from, None, Some(dropout));
        assert_eq!(pass.unwrap().out(), target.tokens(), "{order:?}");
    }
}

/// The pass that keeps everything gives what the readable one gives, sequence by sequence.
#[test]
fn the_pass_is_the_forward_of_each_sequence() {
    for order in ORDERS {
        let (model, [source, target]) = (model(order), texts());
        let own = target_masks();
        let (_, memory) = encoded(&model, &source);
        let pass = decoded(&model, &target, &memory);
        let mut largest = 0f64;
        for s in 0..2 {
            let source = source.sequence(s).into_owned();
            let memory = model.encoder.forward(source, &SOURCE_MASKS[s]).unwrap();
            let memory = Memory { tokens: memory.out(), mask: &SOURCE_MASKS[s] };
            let target = target.sequence(s).into_owned();
            let decoded = model.decoder.forward_reading(target, &own[s], memory).unwrap();
            let out = pass.out().rows(s * N_TARGET, N_TARGET).into_owned();
            largest = largest.max((decoded.out() - out).amax());
            for (layer, block) in pass.blocks().iter().enumerate() {
                for head in 0..2 {
                    let own = &decoded.attn[layer][head] - &block.own().attn[s][head];
                    let cross = &decoded.cross[layer][head]
                        - &block.cross().unwrap().attn[s][head];
                    largest = largest.max(own.amax()).max(cross.amax());
                    assert_eq!(cross.shape(), (N_TARGET, N_SOURCE));
                }
            }
        }
        println!("{order:?}: {largest:e}");
        assert!(largest < 1e-12, "{order:?}: {largest:e}");
    }
}

/// A word that is written later moves nothing before it, and one of the source moves all.
#[test]
fn the_target_sees_what_is_behind_it_and_all_of_the_source() {
    let (model, [source, target]) = (model(Order::Before), texts());
    let [source, target] = [source, target].map(|text| text.sequence(0).into_owned());
    let out = |source: &Matrix, target: &Matrix| {
        let memory = model.encoder.forward(source.clone(), &Mask::None).unwrap();
        let memory = Memory { tokens: memory.out(), mask: &Mask::None };
        let layers = model.decoder.forward_reading(target.clone(), &Mask::Causal, memory);
        layers.unwrap().out().clone()
    };
    let before = out(&source, &target);
    let mut later = target.clone();
    later.row_mut(2).fill(9.0);
    let moved = out(&source, &later) - &before;
    assert!(moved.rows(0, 2).amax() == 0.0 && moved.row(2).amax() > 0.0);
    let mut other = source.clone();
    other.row_mut(3).fill(9.0);
    let moved = out(&other, &target) - &before;
    assert!((0..N_TARGET).all(|row| moved.row(row).amax() > 0.0));
}

#[test]
fn a_memory_of_another_length_than_the_mask_is_refused() {
    let (model, [source, target]) = (model(Order::After), texts());
    let source = source.sequence(0).into_owned();
    let memory = Memory { tokens: &source, mask: &Mask::FirstKeys(9) };
    let target = target.sequence(0).into_owned();
    let refused = model.decoder.forward_reading(target.clone(), &Mask::Causal, memory);
    insta::assert_snapshot!(refused.unwrap_err(), @"the mask lets the first 9 keys be seen and there are only 4");
    let refused = model.decoder.forward(target, &Mask::Causal).unwrap_err();
    insta::assert_snapshot!(refused, @"the list of texts to read has 0 entries, expected 1");
}

#[test]
fn the_ledger_of_both_counts_what_they_hold() {
    let model = model(Order::Before);
    let ledger = crate::Ledger::of_both(&model, [N_SOURCE, N_TARGET]).unwrap();
    assert_eq!(ledger.parameters(), model.n_entries());
    insta::assert_snapshot!(ledger, @"
    part                      parameters  share   multiply-adds   share
    encoder: projections      336         23.5 %  1,152          23.8 %
    encoder: source × source  0           0.0 %   384             7.9 %
    encoder: feed-forward     194         13.6 %  672            13.9 %
    decoder: projections      336         23.5 %  864            17.9 %
    decoder: target × target  0           0.0 %   216             4.5 %
    cross: projections        336         23.5 %  1,008          20.8 %
    cross: target × source    0           0.0 %   288             6.0 %
    decoder: feed-forward     97          6.8 %   252             5.2 %
    norms                     132         9.2 %   0               0.0 %
    ───────────────────────────────────────────────────────────────────
    total                     1,431               4,836
    ");
}
