//! From scores to weights, and the average of values.

use crate::Mistake;
use crate::mistake::Need;
use crate::recipe::{Sinks, Softmax, Values};
use crate::step::Step;

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake::new("softmax-over-queries", Step::Softmax, |r| {
        r.softmax = Softmax::OverQueries;
    }),
    Mistake::new("softmax-over-heads", Step::Softmax, |r| {
        r.softmax = Softmax::OverHeads;
    })
    .needs(&[Need::Heads]),
    Mistake::new("softmax-over-batch", Step::Softmax, |r| {
        r.softmax = Softmax::OverBatch;
    })
    .needs(&[Need::Batch]),
    Mistake::new("softmax-over-map", Step::Softmax, |r| {
        r.softmax = Softmax::OverMap;
    }),
    Mistake::new("softmax-over-heads-and-keys", Step::Softmax, |r| {
        r.softmax = Softmax::OverHeadsAndKeys;
    })
    .needs(&[Need::Heads]),
    Mistake::new("no-softmax", Step::Softmax, |r| r.softmax = Softmax::None),
    Mistake::new("softmax-twice", Step::Softmax, |r| {
        r.softmax = Softmax::Twice;
    }),
    Mistake::new("log-softmax", Step::Softmax, |r| {
        r.softmax = Softmax::Logarithm;
    }),
    Mistake::new("softmax-base-two", Step::Softmax, |r| {
        r.softmax = Softmax::BaseTwo;
    }),
    Mistake::new("sigmoid", Step::Softmax, |r| {
        r.softmax = Softmax::Sigmoid;
    }),
    Mistake::new("sink-left-out", Step::Softmax, |r| {
        r.sinks = Sinks::None;
    })
    .needs(&[Need::Sinks]),
    Mistake::new("sinks-twice", Step::Softmax, |r| {
        r.sinks = Sinks::Twice;
    })
    .needs(&[Need::Sinks]),
    Mistake::new("sinks-scaled", Step::Softmax, |r| {
        r.sinks = Sinks::Scaled;
    })
    .needs(&[Need::Sinks]),
    Mistake::new("last-key-dropped-for-sink", Step::Softmax, |r| {
        r.sinks = Sinks::LastDropped;
    })
    .needs(&[Need::Sinks]),
    Mistake::new("no-exponential", Step::Softmax, |r| r.softmax = Softmax::NoExponential)
        .alone(),
    Mistake::new("not-divided-by-sum", Step::Softmax, |r| {
        r.softmax = Softmax::NotDivided
    })
    .alone(),
    Mistake::new("softmax-plus-one", Step::Softmax, |r| r.softmax = Softmax::PlusOne),
    Mistake::new("one-added-after-maximum", Step::Softmax, |r| {
        r.softmax = Softmax::PlusOneLate
    })
    .alone(),
    Mistake::new("tile-filled-with-zeros", Step::Softmax, |r| {
        r.softmax = Softmax::ZeroFilled
    })
    .alone(),
    Mistake::new("running-sum-not-rescaled", Step::Softmax, |r| {
        r.softmax = Softmax::SumNotRescaled
    })
    .alone(),
    Mistake::new("running-output-not-rescaled", Step::Softmax, |r| {
        r.softmax = Softmax::OutputNotRescaled
    })
    .alone(),
    Mistake::new("running-output-divided", Step::Softmax, |r| {
        r.softmax = Softmax::OutputDivided
    })
    .alone(),
    Mistake::new("dropout-in-evaluation", Step::Softmax, |r| {
        r.softmax = Softmax::Dropped
    })
    .needs(&[Need::Map])
    .alone(),
    Mistake::new("attn-transposed", Step::Values, |r| {
        r.values = Values::Transposed;
    }),
    Mistake::new("values-not-averaged", Step::Values, |r| {
        r.values = Values::Unweighted;
    }),
    Mistake::new("columns-never-written", Step::Values, |r| r.values = Values::FirstTile)
        .alone(),
];
