//! From scores to weights, and the average of values.

use crate::recipe::{Sinks, Softmax, Values};

mistakes! {
    Softmax, "softmax-over-queries", [], |r| r.softmax = Softmax::OverQueries;
    Softmax, "softmax-over-heads", [Heads], |r| r.softmax = Softmax::OverHeads;
    Softmax, "softmax-over-batch", [Batch], |r| r.softmax = Softmax::OverBatch;
    Softmax, "softmax-over-map", [], |r| r.softmax = Softmax::OverMap;
    Softmax, "softmax-over-heads-and-keys", [Heads],
        |r| r.softmax = Softmax::OverHeadsAndKeys;
    Softmax, "no-softmax", [], |r| r.softmax = Softmax::None;
    Softmax, "softmax-twice", [], |r| r.softmax = Softmax::Twice;
    Softmax, "log-softmax", [], |r| r.softmax = Softmax::Logarithm;
    Softmax, "softmax-base-two", [], |r| r.softmax = Softmax::BaseTwo;
    Softmax, "sigmoid", [], |r| r.softmax = Softmax::Sigmoid;
    Softmax, "sink-left-out", [Sinks], |r| r.sinks = Sinks::None;
    Softmax, "sinks-twice", [Sinks], |r| r.sinks = Sinks::Twice;
    Softmax, "sinks-scaled", [Sinks], |r| r.sinks = Sinks::Scaled;
    Softmax, "last-key-dropped-for-sink", [Sinks], |r| r.sinks = Sinks::LastDropped;
    Softmax, "no-exponential", [] alone, |r| r.softmax = Softmax::NoExponential;
    Softmax, "not-divided-by-sum", [] alone, |r| r.softmax = Softmax::NotDivided;
    Softmax, "softmax-plus-one", [], |r| r.softmax = Softmax::PlusOne;
    Softmax, "one-added-after-maximum", [] alone, |r| r.softmax = Softmax::PlusOneLate;
    Softmax, "tile-filled-with-zeros", [] alone, |r| r.softmax = Softmax::ZeroFilled;
    Softmax, "running-sum-not-rescaled", [] alone,
        |r| r.softmax = Softmax::SumNotRescaled;
    Softmax, "running-output-not-rescaled", [] alone,
        |r| r.softmax = Softmax::OutputNotRescaled;
    Softmax, "running-output-divided", [] alone, |r| r.softmax = Softmax::OutputDivided;
    Softmax, "dropout-in-evaluation", [Map] alone, |r| r.softmax = Softmax::Dropped;
    Values, "attn-transposed", [], |r| r.values = Values::Transposed;
    Values, "values-not-averaged", [], |r| r.values = Values::Unweighted;
    Values, "columns-never-written", [] alone, |r| r.values = Values::FirstTile;
}
