//! Which keys are open, and what becomes of the others.

use crate::Mistake;
use crate::mistake::Need;
use crate::recipe::{Causal, Fill, Masking, Window};
use crate::step::Step;

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake::new("mask-opposite", Step::Mask, |r| {
        r.padding = Masking::Opposite;
        r.pairs = Masking::Opposite;
    })
    .needs(&[Need::GivenMask]),
    Mistake::new("padding-opposite", Step::Mask, |r| {
        r.padding = Masking::Opposite;
    })
    .needs(&[Need::Padding]),
    Mistake::new("all-masks-opposite", Step::Mask, |r| {
        r.fill = Fill::Opposite;
    })
    .needs(&[Need::Mask]),
    Mistake::new("padding-left-out", Step::Mask, |r| {
        r.padding = Masking::None;
    })
    .needs(&[Need::Padding]),
    Mistake::new("padding-of-queries", Step::Mask, |r| {
        r.padding = Masking::Transposed;
    })
    .needs(&[Need::Padding]),
    Mistake::new("padding-of-first", Step::Mask, |r| {
        r.padding = Masking::FirstSequence;
    })
    .needs(&[Need::Padding, Need::Batch]),
    Mistake::new("padding-tiled", Step::Mask, |r| {
        r.padding = Masking::Tiled;
        r.pairs = Masking::Tiled;
    })
    .needs(&[Need::Batch, Need::GivenMask]),
    Mistake::new("padding-repeated", Step::Mask, |r| {
        r.padding = Masking::Repeated;
        r.pairs = Masking::Repeated;
    })
    .needs(&[Need::Batch, Need::GivenMask]),
    Mistake::new("mask-of-first-head", Step::Mask, |r| {
        r.padding = Masking::FirstHead;
        r.pairs = Masking::FirstHead;
    })
    .needs(&[Need::GivenMask, Need::Heads]),
    Mistake::new("padding-other-end", Step::Mask, |r| {
        r.padding = Masking::OtherEnd;
    })
    .needs(&[Need::Padding]),
    Mistake::new("padding-one-short", Step::Mask, |r| r.padding = Masking::OneShort)
        .needs(&[Need::Padding]),
    Mistake::new("masks-joined-by-or", Step::Mask, |r| r.padding = Masking::Joined)
        .needs(&[Need::Padding, Need::Causal]),
    Mistake::new("mask-left-out", Step::Mask, |r| {
        r.pairs = Masking::None;
    })
    .needs(&[Need::Pairs]),
    Mistake::new("pairs-opposite", Step::Mask, |r| {
        r.pairs = Masking::Opposite;
    })
    .needs(&[Need::Pairs]),
    Mistake::new("mask-transposed", Step::Mask, |r| {
        r.pairs = Masking::Transposed;
    })
    .needs(&[Need::Pairs]),
    Mistake::new("mask-before-scale", Step::Mask, |r| {
        r.pairs = Masking::BeforeScale;
    })
    .needs(&[Need::Pairs]),
    Mistake::new("not-causal", Step::Mask, |r| r.causal = Causal::None)
        .needs(&[Need::Causal]),
    Mistake::new("causal-unmeant", Step::Mask, |r| {
        r.causal = Causal::Unmeant;
    })
    .needs(&[Need::NoCausal]),
    Mistake::new("causal-without-itself", Step::Mask, |r| {
        r.causal = Causal::WithoutItself;
    })
    .needs(&[Need::Causal]),
    Mistake::new("causal-one-ahead", Step::Mask, |r| {
        r.causal = Causal::OneAhead;
    })
    .needs(&[Need::Causal]),
    Mistake::new("causal-future", Step::Mask, |r| {
        r.causal = Causal::Future;
    })
    .needs(&[Need::Causal]),
    Mistake::new("causal-corner", Step::Mask, |r| {
        r.causal = Causal::OtherCorner;
    })
    .needs(&[Need::Causal]),
    Mistake::new("window-left-out", Step::Mask, |r| {
        r.window = Window::None;
    })
    .needs(&[Need::Window]),
    Mistake::new("window-one-too-wide", Step::Mask, |r| {
        r.window = Window::Wider;
        r.pairs = Masking::Wider;
    })
    .needs(&[Need::Band]),
    Mistake::new("window-one-too-narrow", Step::Mask, |r| {
        r.window = Window::Narrower;
    })
    .needs(&[Need::Window]),
    Mistake::new("window-from-zero", Step::Mask, |r| {
        r.window = Window::FromZero;
    })
    .needs(&[Need::Window, Need::Offset]),
    Mistake::new("fill-1e-9", Step::Mask, |r| r.fill = Fill::MinusNano)
        .needs(&[Need::Mask]),
    Mistake::new("fill-zero", Step::Mask, |r| {
        r.fill = Fill::Zero;
    })
    .needs(&[Need::Mask]),
    Mistake::new("fill-minus-one", Step::Mask, |r| r.fill = Fill::MinusOne)
        .needs(&[Need::Mask]),
    Mistake::new("fill-1e4", Step::Mask, |r| {
        r.fill = Fill::MinusTenThousand;
    })
    .needs(&[Need::Mask]),
    Mistake::new("fill-large", Step::Mask, |r| r.fill = Fill::Large).needs(&[Need::Mask]),
    Mistake::new("blocked-plus-one", Step::Mask, |r| {
        r.fill = Fill::BlockedPlusOne;
    })
    .needs(&[Need::Mask]),
    Mistake::new("open-plus-one", Step::Mask, |r| {
        r.fill = Fill::OpenPlusOne;
    })
    .needs(&[Need::Mask]),
    Mistake::new("masked-after-softmax", Step::Mask, |r| {
        r.fill = Fill::AfterSoftmax;
    })
    .needs(&[Need::Mask]),
    Mistake::new("last-tile-dropped", Step::Mask, |r| r.fill = Fill::LastTileToo).alone(),
    Mistake::new("mask-of-first-tile", Step::Mask, |r| r.fill = Fill::FirstTileAlone)
        .needs(&[Need::Mask])
        .alone(),
];
