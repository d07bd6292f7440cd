//! Rotary positions.

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
