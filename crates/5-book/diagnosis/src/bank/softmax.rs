//! From scores to weights, and the average of values.

choice! {
    /// What makes attention weights of scores.
    softmax: Softmax at Softmax {
        OverKeys; // rows sum to 1, as was meant
        OverQueries = "softmax-over-queries", []; // columns do
        OverHeads = "softmax-over-heads", [Heads];
        OverBatch = "softmax-over-batch", [Batch];
        OverMap = "softmax-over-map", [];
        OverHeadsAndKeys = "softmax-over-heads-and-keys", [Heads];
        None = "no-softmax", [];
        Twice = "softmax-twice", [];
        Logarithm = "log-softmax", [];
        BaseTwo = "softmax-base-two", []; // powers of 2 and not of e
        Sigmoid = "sigmoid", []; // each score alone
        NoExponential = "no-exponential", [] alone; // scores divided by their sum
        NotDivided = "not-divided-by-sum", [] alone;
        PlusOne = "softmax-plus-one", []; // one more score of 0, whose weight nobody gets
        PlusOneLate = "one-added-after-maximum", [] alone;
        ZeroFilled = "tile-filled-with-zeros", [] alone; // and they count
        // Tile by tile, and what was summed stays as it is where the largest score grows, or is
        // divided where it should be multiplied.
        SumNotRescaled = "running-sum-not-rescaled", [] alone;
        OutputNotRescaled = "running-output-not-rescaled", [] alone;
        OutputDivided = "running-output-divided", [] alone;
        // Weights are 0 or by one factor too large, as the record's own map says.
        Dropped = "dropout-in-evaluation", [Map] alone;
    }
}

choice! {
    /// What becomes of a head's sink, a score of its own whose weight is dropped.
    sinks: Sinks at Softmax {
        Meant;
        None = "sink-left-out", [Sinks];
        Twice = "sinks-twice", [Sinks];
        Scaled = "sinks-scaled", [Sinks]; // divided as scores are
        // It stands first, and the weight of the last key is dropped in place of its own.
        LastDropped = "last-key-dropped-for-sink", [Sinks];
    }
}

choice! {
    /// What the attention weights average.
    values: Values at Values {
        Average; // `attn V`
        Transposed = "attn-transposed", []; // `attnᵀ V`
        Unweighted = "values-not-averaged", []; // V stays as it is
        // As meant in the first tile of a head's columns, and 0 in the others.
        FirstTile = "columns-never-written", [] alone;
    }
}
