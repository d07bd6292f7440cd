//! Scores, what they are divided by, their bound, and what they lose by distance.

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
