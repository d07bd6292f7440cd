//! From q, k and v to heads, their norms and rotary positions, and keys that heads share.

choice! {
    /// How q, k and v, `[n, h · d_k]`, become heads: as was meant, by `view(n, h, d_k)`, then
    /// transposed to `(h, n, d_k)`.
    split: Split at Split {
        Meant;
        View = "split-without-transpose", [Heads]; // `view(h, n, d_k)` at once
        ViewOfValues = "values-split-without-transpose", [Heads];
        ViewOfKeys = "keys-split-without-transpose", [Heads]; // and of queries
        Interleaved = "split-interleaved", [Heads]; // `view(n, d_k, h)`
        AfterTranspose = "split-after-transpose", []; // of `(h · d_k, n)`
        AcrossHeads = "attends-across-heads", []; // `view(n, h, d_k)`, never transposed
        Exchanged = "heads-and-width-exchanged", [Heads]; // d_k heads of width h
        KeysReversed = "keys-of-reversed-heads", [Heads]; // and values: last head first
    }
}

choice! {
    /// How queries and keys are normed before they are rotated, where they are.
    norms: Norms at Norms {
        Meant;
        None = "qk-norm-left-out", [Norms];
        AfterRotation = "qk-norm-after-rotation", [Norms, Rotary];
        // Over all heads together where each has a norm of its own, or the other way about.
        OtherWidth = "qk-norm-of-other-width", [Norms, Heads];
        OverTokens = "qk-norm-over-tokens", [Norms]; // of a sequence, together
        WithoutGain = "qk-norm-without-gain", [Norms];
    }
}

choice! {
    /// How positions rotate queries and keys: as was meant, which may be not at all.
    rotary: Rotary at Positions {
        Meant;
        OtherPairing = "pairs-and-halves", [Rotary];
        // Halves by the angles of pairs, or pairs by those of halves.
        AnglesOfOther = "angles-of-other-pairing", [Rotary];
        None = "not-rotated", [Rotary];
        ValuesToo = "values-rotated", [Rotary];
        QueriesAlone = "queries-rotated-alone", [Rotary];
        KeysAlone = "keys-rotated-alone", [Rotary];
        KeysReversed = "keys-rotated-backwards", [Rotary]; // queries as meant
        Reversed = "rotated-backwards", [Rotary]; // by the opposite angle
        Twice = "rotated-twice", [Rotary]; // by twice the angle
        HalfExponent = "rotary-exponent-halved", [Rotary]; // p / d_k in place of 2p / d_k
        OddExponent = "rotary-exponent-odd", [Rotary]; // (2p + 1) / d_k
        ExponentOfModel = "rotary-exponent-of-model", [Rotary, Heads]; // 2p / d_model
        WholeWidth = "rotated-before-split", [Rotary, Heads]; // and not head by head
        ByHead = "rotated-by-head", [Rotary]; // by the number of the head, not of the token
        FirstHead = "first-head-rotated", [Rotary, Heads];
        HalfOfHead = "half-of-head-rotated", [Rotary]; // of its entries
        QueriesAhead = "queries-one-ahead", [Rotary];
        OtherBase = "rotary-base", [Rotary]; // 500,000, or 10,000 where that was meant
        SineForCosine = "sine-for-cosine", [Rotary];
        WithoutMinus = "rotary-without-minus", [Rotary]; // in front of the second entry
        QueriesFromZero = "row-for-position", [Rotary, Offset];
        // Where keys have positions of their own: counted from 0, or with padding in front.
        KeysFromZero = "rotated-keys-from-zero", [Rotary, Listed];
        PaddingCounted = "padding-counted", [Rotary, Listed];
        KeysTwice = "keys-rotated-twice", [Rotary];
        CachedKeysTwice = "cached-keys-rotated-twice", [Rotary, Cached]; // before the query
        UnmeantHalves = "unmeant-halves", [NoRotary];
        UnmeantPairs = "unmeant-pairs", [NoRotary];
    }
}

choice! {
    /// Which head of keys and values a query head reads, where there are fewer of them: as was
    /// meant, each serves neighbours, 0, 0, 1, 1.
    sharing: Sharing at Sharing {
        Meant;
        Tiled = "key-heads-tiled", [SharedKeys]; // in turns: 0, 1, 0, 1
        ValuesTiled = "value-heads-tiled", [SharedKeys]; // values alone
        First = "first-key-head-for-all", [SharedKeys];
        Mean = "mean-of-key-heads", [SharedKeys];
        // Tokens are repeated and not heads: a head's sequence goes on in the next head.
        AlongSequence = "keys-repeated-along-sequence", [SharedKeys];
    }
}
