//! Which columns of a packed W are whose.

use crate::Mistake;
use crate::mistake::Need;
use crate::recipe::Packing;
use crate::step::Step;

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake::new("packed-head-by-head", Step::Packing, |r| {
        r.packing = Packing::HeadByHead;
    })
    .needs(&[Need::PackedInBlocks]),
    Mistake::new("packed-in-blocks", Step::Packing, |r| {
        r.packing = Packing::Blocks;
    })
    .needs(&[Need::PackedByHeads]),
    Mistake::new("packed-by-features", Step::Packing, |r| {
        r.packing = Packing::Features;
    })
    .needs(&[Need::Packed]),
    Mistake::new("packed-k-v-q", Step::Packing, |r| {
        r.packing = Packing::KeyFirst;
    })
    .needs(&[Need::Packed]),
    Mistake::new("packed-v-q-k", Step::Packing, |r| {
        r.packing = Packing::ValueFirst;
    })
    .needs(&[Need::Packed]),
    Mistake::new("packed-q-v-k", Step::Packing, |r| {
        r.packing = Packing::ValueSecond;
    })
    .needs(&[Need::Packed]),
    Mistake::new("packed-k-q-v", Step::Packing, |r| {
        r.packing = Packing::KeyThenQuery;
    })
    .needs(&[Need::Packed]),
];
