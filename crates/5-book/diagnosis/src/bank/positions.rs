//! Rotary positions.

use crate::Mistake;
use crate::mistake::Need;
use crate::recipe::Rotary;
use crate::step::Step;

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake::new("pairs-and-halves", Step::Positions, |r| {
        r.rotary = Rotary::OtherPairing;
    })
    .needs(&[Need::Rotary]),
    Mistake::new("angles-of-other-pairing", Step::Positions, |r| {
        r.rotary = Rotary::AnglesOfOther;
    })
    .needs(&[Need::Rotary]),
    Mistake::new("not-rotated", Step::Positions, |r| r.rotary = Rotary::None)
        .needs(&[Need::Rotary]),
    Mistake::new("values-rotated", Step::Positions, |r| {
        r.rotary = Rotary::ValuesToo;
    })
    .needs(&[Need::Rotary]),
    Mistake::new("queries-rotated-alone", Step::Positions, |r| {
        r.rotary = Rotary::QueriesAlone;
    })
    .needs(&[Need::Rotary]),
    Mistake::new("keys-rotated-alone", Step::Positions, |r| {
        r.rotary = Rotary::KeysAlone;
    })
    .needs(&[Need::Rotary]),
    Mistake::new("keys-rotated-backwards", Step::Positions, |r| {
        r.rotary = Rotary::KeysReversed;
    })
    .needs(&[Need::Rotary]),
    Mistake::new("rotated-backwards", Step::Positions, |r| {
        r.rotary = Rotary::Reversed;
    })
    .needs(&[Need::Rotary]),
    Mistake::new("rotated-twice", Step::Positions, |r| r.rotary = Rotary::Twice)
        .needs(&[Need::Rotary]),
    Mistake::new("rotary-exponent-halved", Step::Positions, |r| {
        r.rotary = Rotary::HalfExponent;
    })
    .needs(&[Need::Rotary]),
    Mistake::new("rotary-exponent-odd", Step::Positions, |r| {
        r.rotary = Rotary::OddExponent;
    })
    .needs(&[Need::Rotary]),
    Mistake::new("rotary-exponent-of-model", Step::Positions, |r| {
        r.rotary = Rotary::ExponentOfModel;
    })
    .needs(&[Need::Rotary, Need::Heads]),
    Mistake::new("rotated-before-split", Step::Positions, |r| {
        r.rotary = Rotary::WholeWidth;
    })
    .needs(&[Need::Rotary, Need::Heads]),
    Mistake::new("rotated-by-head", Step::Positions, |r| {
        r.rotary = Rotary::ByHead;
    })
    .needs(&[Need::Rotary]),
    Mistake::new("first-head-rotated", Step::Positions, |r| {
        r.rotary = Rotary::FirstHead;
    })
    .needs(&[Need::Rotary, Need::Heads]),
    Mistake::new("half-of-head-rotated", Step::Positions, |r| {
        r.rotary = Rotary::HalfOfHead;
    })
    .needs(&[Need::Rotary]),
    Mistake::new("queries-one-ahead", Step::Positions, |r| {
        r.rotary = Rotary::QueriesAhead;
    })
    .needs(&[Need::Rotary]),
    Mistake::new("rotary-base", Step::Positions, |r| {
        r.rotary = Rotary::OtherBase;
    })
    .needs(&[Need::Rotary]),
    Mistake::new("sine-for-cosine", Step::Positions, |r| {
        r.rotary = Rotary::SineForCosine;
    })
    .needs(&[Need::Rotary]),
    Mistake::new("rotary-without-minus", Step::Positions, |r| {
        r.rotary = Rotary::WithoutMinus;
    })
    .needs(&[Need::Rotary]),
    Mistake::new("row-for-position", Step::Positions, |r| {
        r.rotary = Rotary::QueriesFromZero;
    })
    .needs(&[Need::Rotary, Need::Offset]),
    Mistake::new("rotated-keys-from-zero", Step::Positions, |r| {
        r.rotary = Rotary::KeysFromZero;
    })
    .needs(&[Need::Rotary, Need::Listed]),
    Mistake::new("padding-counted", Step::Positions, |r| {
        r.rotary = Rotary::PaddingCounted;
    })
    .needs(&[Need::Rotary, Need::Listed]),
    Mistake::new("keys-rotated-twice", Step::Positions, |r| {
        r.rotary = Rotary::KeysTwice;
    })
    .needs(&[Need::Rotary]),
    Mistake::new("cached-keys-rotated-twice", Step::Positions, |r| {
        r.rotary = Rotary::CachedKeysTwice;
    })
    .needs(&[Need::Rotary, Need::Cached]),
    Mistake::new("unmeant-halves", Step::Positions, |r| {
        r.rotary = Rotary::UnmeantHalves;
    })
    .needs(&[Need::NoRotary]),
    Mistake::new("unmeant-pairs", Step::Positions, |r| {
        r.rotary = Rotary::UnmeantPairs;
    })
    .needs(&[Need::NoRotary]),
];
