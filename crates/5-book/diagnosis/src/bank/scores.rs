//! Scores, what they are divided by, their bound, and what they lose by distance; then from
//! scores to weights, and the average of values.

choice! {
    /// How a query is compared with a key.
    similarity: Similarity at Scores {
        Product; // `q kᵀ`
        Transposed = "scores-transposed", []; // `k qᵀ`
        Reshaped = "keys-reshaped", []; // `q · k.view(d_k, n)`
        Cosine = "cosine-scores", []; // of the angle between them
    }
}

choice! {
    /// What scores are divided by: as was meant, √d_k or another number.
    scale: Scale at Scale {
        Meant;
        RootOfModel = "scaled-by-d-model", [Heads]; // √d_model
        None = "not-scaled", [];
        Width = "scaled-by-d-k", []; // d_k
        Model = "scaled-by-whole-d-model", []; // d_model
        Multiplied = "multiplied-by-root", []; // 1/√d_k
        QuarterRoot = "scaled-by-quarter-root", []; // d_k^(1/4)
        RootOfHeads = "scaled-by-heads", []; // √h
        RootOfKeys = "scaled-by-keys", []; // √n_kv
        AfterSoftmax = "scaled-after-softmax", []; // attention weights are divided
        RootOfWidth = "usual-scale", [OwnScale]; // √d_k where another was meant
    }
}

choice! {
    /// How scores are bounded, where a bound was meant.
    cap: Cap at Cap {
        Meant; // `cap · tanh(s / cap)`
        None = "not-capped", [Cap];
        WithoutProduct = "cap-not-multiplied", [Cap]; // `tanh(s / cap)`
        WithoutQuotient = "cap-not-divided", [Cap]; // `cap · tanh(s)`
        ScoreForCap = "score-for-cap", [Cap]; // `s · tanh(s / cap)`
        BeforeScale = "capped-before-scale", [Cap];
        AfterMask = "capped-after-mask", [Cap, Mask];
    }
}

choice! {
    /// What is added to scores by distance, where that was meant.
    slopes: Slopes at Slopes {
        Meant;
        None = "distance-left-out", [Slopes];
        Opposite = "distance-added", [Slopes]; // what is far is preferred
        AnyPower = "slopes-of-any-power", [Slopes]; // 2^(−8i/h), i from 1 on
        FromZero = "slopes-from-zero", [Slopes]; // 2^(−8i/h), i from 0 on
        Reversed = "slopes-reversed", [Slopes, Heads]; // of the heads from last to first
        FirstHalf = "slopes-of-first-half", [Slopes, Heads]; // of the heads, then once more
        Sorted = "slopes-sorted", [Slopes, Heads]; // from the steepest to the flattest
    }
}

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
