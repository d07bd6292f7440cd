//! What holds of whole blocks and stacks.

use attention::{
    Batch, Dims, Error, LayerParameters, Mask, Matrix, MultiHeadAttention, Rng,
    RowVector, SeedableRng, random_matrix,
};
use fused_heads::FusedAttention;

use gradients::Entries;

use crate::{
    Activation, Block, Dropout, FeedForward, LayerNorm, Norm, Norms, RmsNorm, Stack,
    StackPass, Sublayer,
};

mod decoder;

pub(crate) const N_TOKENS: usize = 5;
pub(crate) const D_MODEL: usize = 6;

/// Where a stack's norms stand.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Order {
    None,
    Before,
    After,
    /// RMSNorms on both sides, the second of a layer's output; in a stack, the layers stand
    /// side by side.
    Both,
}

pub(crate) const ORDERS: [Order; 4] =
    [Order::None, Order::Before, Order::After, Order::Both];

fn random_norms(order: Order, rng: &mut Rng) -> Norms {
    let mut row = |shift: f64| random_matrix(1, D_MODEL, 0.3, rng).add_scalar(shift);
    let (gain, bias) = (row(1.0).row(0).into_owned(), row(0.0).row(0).into_owned());
    let rms: Norm = RmsNorm { gain: gain.clone(), eps: 1e-5 }.into();
    let norm = LayerNorm { gain, bias, eps: 1e-5 };
    match order {
        Order::None => Norms::none(),
        Order::Before => Norms::before(norm),
        Order::After => Norms::after(norm),
        Order::Both => Norms { of_output: Some(rms.clone()), ..Norms::before(rms) },
    }
}

pub(crate) type Parameters = Vec<LayerParameters>;

pub(crate) fn stack(
    order: Order,
    activation: Activation,
) -> (Stack<FusedAttention>, Parameters) {
    let rng = &mut Rng::seed_from_u64(1);
    let dims = Dims::new(D_MODEL, 2).unwrap();
    let parameters: Parameters =
        (0..3).map(|_| LayerParameters::random(dims, true, rng)).collect();
    let blocks = parameters.iter().map(|parameters| {
        let ffn = FeedForward { activation, ..FeedForward::random(D_MODEL, 10, rng) };
        let attention = FusedAttention::new(parameters);
        let attention = Sublayer::new(attention, random_norms(order, rng));
        let ffn = Sublayer::new(ffn, random_norms(order, rng));
        let parallel = matches!(order, Order::Both);
        Block { parallel, ..Block::new(attention, Some(ffn)) }
    });
    let blocks = blocks.collect();
    let last_norm = random_norms(order, rng).iter().next().cloned();
    (Stack { blocks, last_norm }, parameters)
}

pub(crate) fn tokens() -> Batch {
    let rng = &mut Rng::seed_from_u64(2);
    Batch::new(2, random_matrix(2 * N_TOKENS, D_MODEL, 1.0, rng)).unwrap()
}

pub(crate) const MASKS: [Mask; 2] = [Mask::Causal, Mask::FirstKeys(3)];

/// Σ out ⊙ probe, whose gradient with respect to out is the probe.
fn value(stack: &Stack<FusedAttention>, x: &Batch, probe: &Matrix) -> f64 {
    StackPass::forward(stack, x, &MASKS).unwrap().out().dot(probe)
}

/// The largest entry of some gradients.
pub(crate) fn largest(d: &impl Entries<f64>) -> f64 {
    d.entries().concat().iter().fold(0.0, |most, d| d.abs().max(most))
}

/// The largest difference of a gradient `d` from central differences of a value, over all
/// entries of what it is the gradient of.
pub(crate) fn worst<E: Entries<f64>>(
    of: &mut E,
    d: &impl Entries<f64>,
    value: impl Fn(&E) -> f64,
) -> f64 {
    assert_eq!(of.entries().len(), d.entries().len());
    let mut worst: f64 = 0.0;
    for (part, d) in d.entries().into_iter().enumerate() {
        for (entry, d) in d.iter().enumerate() {
            let before = of.entries()[part][entry];
            let found = difference(|h| {
                of.entries_mut()[part][entry] = before + h;
                value(of)
            });
            of.entries_mut()[part][entry] = before;
            worst = worst.max((found - d).abs());
        }
    }
    worst
}

/// The fourth-order central difference, whose error is far below 1e-7.
fn difference(mut value: impl FnMut(f64) -> f64) -> f64 {
    let h = 1e-3;
    let mut pair = |h: f64| value(h) - value(-h);
    (8.0 * pair(h) - pair(2.0 * h)) / (12.0 * h)
}

#[test]
fn every_gradient_is_a_central_difference() {
    for order in ORDERS {
        for activation in [Activation::Gelu, Activation::GeluTanh] {
            let (mut stack, _) = stack(order, activation);
            let x = tokens();
            let rng = &mut Rng::seed_from_u64(3);
            let probe = random_matrix(2 * N_TOKENS, D_MODEL, 1.0, rng);
            let d = StackPass::forward(&stack, &x, &MASKS).unwrap().backward(&probe);
            let d = d.unwrap();
            let of_x = |tokens: &Matrix| {
                value(&stack, &Batch::new(2, tokens.clone()).unwrap(), &probe)
            };
            let worst_of_x = worst(&mut x.tokens().clone(), d.d_x(), of_x);
            let worst = worst(&mut stack, &d, |stack| value(stack, &x, &probe));
            let relative = worst.max(worst_of_x) / largest(&d);
            println!("{order:?}, {activation:?}: {relative:e} of the largest gradient");
            assert!(relative < 1e-7, "{order:?} {activation:?}: {relative:e}");
        }
    }
}

#[test]
fn without_its_residual_a_sublayer_gives_the_layers_output() {
    let (mut stack, _) = stack(Order::None, Activation::Gelu);
    let mut block = stack.blocks.remove(0);
    block.feed_forward = None;
    let x = tokens().sequence(0).into_owned();
    let change = block.attention.function.self_attend(&x, &Mask::None).unwrap().out;
    let with = block.forward(&x, &Mask::None).unwrap().out;
    assert_eq!(with, &x + &change);
    block.attention.residual = false;
    assert_eq!(block.forward(&x, &Mask::None).unwrap().out, change);
}

#[test]
fn a_gradient_of_another_shape_is_refused_with_both() {
    for order in ORDERS {
        let (stack, _) = stack(order, Activation::Relu);
        let dropout = &mut Dropout::new(0.1, Rng::seed_from_u64(1)).unwrap();
        for pass in [
            StackPass::forward(&stack, &tokens(), &MASKS),
            StackPass::forward_in_training(&stack, &tokens(), &MASKS, dropout),
        ] {
            let refused = pass.unwrap().backward(&Matrix::zeros(3, D_MODEL)).unwrap_err();
            let Error::Shape { expected, found, .. } = refused else { panic!() };
            assert_eq!((expected, found), ((2 * N_TOKENS, D_MODEL), (3, D_MODEL)));
        }
    }
}

#[test]
fn what_does_not_fit_a_norm_is_refused_with_both_shapes() {
    let rms: RmsNorm = RmsNorm::identity(6);
    for norm in [LayerNorm::identity(6).into(), rms.clone().into(), Norm::RmsInF32(rms)] {
        let refused = norm.forward(&Matrix::zeros(2, 5)).unwrap_err();
        insta::allow_duplicates!(
            insta::assert_snapshot!(refused, @"the input of a norm has shape (2, 5), expected (2, 6)")
        );
        let refused = norm.backward(&Matrix::zeros(2, 6), &Matrix::zeros(3, 6));
        insta::allow_duplicates!(
            insta::assert_snapshot!(refused.unwrap_err(), @"the gradient of a norm's output has shape (3, 6), expected (2, 6)")
        );
    }
    let refused = LayerNorm::new(RowVector::<f64>::zeros(3), RowVector::zeros(2), 0.0);
    insta::assert_snapshot!(refused.unwrap_err(), @"the bias of a norm has shape (1, 2), expected (1, 3)");
}

#[test]
fn the_ledger_counts_what_the_block_holds() {
    let (stack, _) = stack(Order::Before, Activation::Gelu);
    let ledger = crate::Ledger::of(&stack.blocks[0], N_TOKENS).unwrap();
    assert_eq!(ledger.parameters(), stack.blocks[0].n_entries());
    insta::assert_snapshot!(ledger, @"
    part                        parameters  share   multiply-adds   share
    attention: projections      168         51.2 %  720            44.4 %
    attention: pairs of tokens  0           0.0 %   300            18.5 %
    feed-forward                136         41.5 %  600            37.0 %
    norms                       24          7.3 %   0               0.0 %
    ─────────────────────────────────────────────────────────────────────
    total                       328                 1,620
    ");
}
