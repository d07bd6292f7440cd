//! Scores, what they are divided by, their bound, and what they lose by distance.

use crate::Mistake;
use crate::mistake::Need;
use crate::recipe::{Cap, Scale, Similarity, Slopes};
use crate::step::Step;

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake::new("scores-transposed", Step::Scores, |r| {
        r.similarity = Similarity::Transposed;
    }),
    Mistake::new("keys-reshaped", Step::Scores, |r| {
        r.similarity = Similarity::Reshaped;
    }),
    Mistake::new("cosine-scores", Step::Scores, |r| {
        r.similarity = Similarity::Cosine;
    }),
    Mistake::new("scaled-by-d-model", Step::Scale, |r| {
        r.scale = Scale::RootOfModel;
    })
    .needs(&[Need::Heads]),
    Mistake::new("not-scaled", Step::Scale, |r| r.scale = Scale::None),
    Mistake::new("scaled-by-d-k", Step::Scale, |r| r.scale = Scale::Width),
    Mistake::new("scaled-by-whole-d-model", Step::Scale, |r| {
        r.scale = Scale::Model;
    }),
    Mistake::new("multiplied-by-root", Step::Scale, |r| {
        r.scale = Scale::Multiplied;
    }),
    Mistake::new("scaled-by-quarter-root", Step::Scale, |r| {
        r.scale = Scale::QuarterRoot;
    }),
    Mistake::new("scaled-by-heads", Step::Scale, |r| {
        r.scale = Scale::RootOfHeads;
    }),
    Mistake::new("scaled-by-keys", Step::Scale, |r| {
        r.scale = Scale::RootOfKeys;
    }),
    Mistake::new("scaled-after-softmax", Step::Scale, |r| {
        r.scale = Scale::AfterSoftmax;
    }),
    Mistake::new("usual-scale", Step::Scale, |r| r.scale = Scale::RootOfWidth)
        .needs(&[Need::OwnScale]),
    Mistake::new("not-capped", Step::Cap, |r| r.cap = Cap::None).needs(&[Need::Cap]),
    Mistake::new("cap-not-multiplied", Step::Cap, |r| r.cap = Cap::WithoutProduct)
        .needs(&[Need::Cap]),
    Mistake::new("cap-not-divided", Step::Cap, |r| {
        r.cap = Cap::WithoutQuotient;
    })
    .needs(&[Need::Cap]),
    Mistake::new("score-for-cap", Step::Cap, |r| r.cap = Cap::ScoreForCap)
        .needs(&[Need::Cap]),
    Mistake::new("distance-left-out", Step::Slopes, |r| {
        r.slopes = Slopes::None;
    })
    .needs(&[Need::Slopes]),
    Mistake::new("distance-added", Step::Slopes, |r| {
        r.slopes = Slopes::Opposite;
    })
    .needs(&[Need::Slopes]),
    Mistake::new("slopes-of-any-power", Step::Slopes, |r| {
        r.slopes = Slopes::AnyPower;
    })
    .needs(&[Need::Slopes]),
    Mistake::new("slopes-from-zero", Step::Slopes, |r| {
        r.slopes = Slopes::FromZero;
    })
    .needs(&[Need::Slopes]),
    Mistake::new("slopes-reversed", Step::Slopes, |r| {
        r.slopes = Slopes::Reversed;
    })
    .needs(&[Need::Slopes, Need::Heads]),
    Mistake::new("slopes-of-first-half", Step::Slopes, |r| {
        r.slopes = Slopes::FirstHalf;
    })
    .needs(&[Need::Slopes, Need::Heads]),
    Mistake::new("slopes-sorted", Step::Slopes, |r| {
        r.slopes = Slopes::Sorted;
    })
    .needs(&[Need::Slopes, Need::Heads]),
    Mistake::new("capped-before-scale", Step::Cap, |r| r.cap = Cap::BeforeScale)
        .needs(&[Need::Cap]),
    Mistake::new("capped-after-mask", Step::Cap, |r| r.cap = Cap::AfterMask)
        .needs(&[Need::Cap, Need::Mask]),
];
