//! Axes, and which input is which.

use crate::Mistake;
use crate::mistake::Need;
use crate::recipe::{Axes, Role};
use crate::step::Step;

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake::new("batch-axis", Step::Inputs, |r| {
        r.axes = Axes::Exchanged;
    })
    .needs(&[Need::Batch]),
    Mistake::new("keys-from-query", Step::Inputs, |r| {
        r.projections[1].input = Role::Query;
        r.projections[2].input = Role::Query;
    })
    .needs(&[Need::Cross]),
    Mistake::new("only-keys-from-query", Step::Inputs, |r| {
        r.projections[1].input = Role::Query;
    })
    .needs(&[Need::Cross]),
    Mistake::new("values-from-query", Step::Inputs, |r| {
        r.projections[2].input = Role::Query;
    })
    .needs(&[Need::Cross]),
    Mistake::new("key-and-value-inputs", Step::Inputs, |r| {
        r.projections[1].input = Role::Value;
        r.projections[2].input = Role::Key;
    })
    .needs(&[Need::Cross]),
    Mistake::new("values-from-keys", Step::Inputs, |r| {
        r.projections[2].input = Role::Key;
    })
    .needs(&[Need::Cross]),
    Mistake::new("queries-from-keys", Step::Inputs, |r| {
        r.projections[0].input = Role::Key;
    })
    .needs(&[Need::Cross]),
];
