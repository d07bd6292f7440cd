//! From q, k and v to heads, their norms, and keys that heads share.

use crate::Mistake;
use crate::mistake::Need;
use crate::recipe::{Norms, Sharing, Split};
use crate::step::Step;

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake::new("split-without-transpose", Step::Split, |r| {
        r.split = Split::View;
    })
    .needs(&[Need::Heads]),
    Mistake::new("values-split-without-transpose", Step::Split, |r| {
        r.split = Split::ViewOfValues;
    })
    .needs(&[Need::Heads]),
    Mistake::new("keys-split-without-transpose", Step::Split, |r| {
        r.split = Split::ViewOfKeys;
    })
    .needs(&[Need::Heads]),
    Mistake::new("split-interleaved", Step::Split, |r| {
        r.split = Split::Interleaved;
    })
    .needs(&[Need::Heads]),
    Mistake::new("split-after-transpose", Step::Split, |r| {
        r.split = Split::AfterTranspose;
    }),
    Mistake::new("attends-across-heads", Step::Split, |r| {
        r.split = Split::AcrossHeads;
    }),
    Mistake::new("heads-and-width-exchanged", Step::Split, |r| {
        r.split = Split::Exchanged;
    })
    .needs(&[Need::Heads]),
    Mistake::new("keys-of-reversed-heads", Step::Split, |r| {
        r.split = Split::KeysReversed;
    })
    .needs(&[Need::Heads]),
    Mistake::new("qk-norm-left-out", Step::Norms, |r| {
        r.norms = Norms::None;
    })
    .needs(&[Need::Norms]),
    Mistake::new("qk-norm-after-rotation", Step::Norms, |r| {
        r.norms = Norms::AfterRotation;
    })
    .needs(&[Need::Norms, Need::Rotary]),
    Mistake::new("qk-norm-of-other-width", Step::Norms, |r| {
        r.norms = Norms::OtherWidth;
    })
    .needs(&[Need::Norms, Need::Heads]),
    Mistake::new("qk-norm-over-tokens", Step::Norms, |r| {
        r.norms = Norms::OverTokens;
    })
    .needs(&[Need::Norms]),
    Mistake::new("qk-norm-without-gain", Step::Norms, |r| {
        r.norms = Norms::WithoutGain;
    })
    .needs(&[Need::Norms]),
    Mistake::new("key-heads-tiled", Step::Sharing, |r| {
        r.sharing = Sharing::Tiled;
    })
    .needs(&[Need::SharedKeys]),
    Mistake::new("value-heads-tiled", Step::Sharing, |r| {
        r.sharing = Sharing::ValuesTiled;
    })
    .needs(&[Need::SharedKeys]),
    Mistake::new("first-key-head-for-all", Step::Sharing, |r| {
        r.sharing = Sharing::First;
    })
    .needs(&[Need::SharedKeys]),
    Mistake::new("mean-of-key-heads", Step::Sharing, |r| {
        r.sharing = Sharing::Mean;
    })
    .needs(&[Need::SharedKeys]),
    Mistake::new("keys-repeated-along-sequence", Step::Sharing, |r| {
        r.sharing = Sharing::AlongSequence
    })
    .needs(&[Need::SharedKeys]),
];
