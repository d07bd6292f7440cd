//! Which keys are open, and what becomes of the others.

/// How a mask is put on.
#[allow(missing_docs)] // a way without a word is what its name says
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Masking {
    Meant,
    None,
    /// With the opposite sign.
    Opposite,
    /// Rows for columns: queries for keys.
    Transposed,
    FirstSequence,
    /// Repeated as 0, 1, 0, 1, where heads of a sequence lie together.
    Tiled,
    /// Repeated as 0, 0, 1, 1, where sequences of a head lie together.
    Repeated,
    FirstHead,
    /// As if padding stood at the other end.
    OtherEnd,
    /// Added before scores are divided.
    BeforeScale,
    /// With the key before the first that a row leaves open.
    Wider,
    /// The first key of the padding is open.
    OneShort,
    /// A key is open if this mask or the causal one opens it.
    Joined,
}

mistakes! { at Mask:
    "mask-opposite", [GivenMask], |r| r.all_masks(Masking::Opposite);
    "padding-opposite", [Padding], |r| r.padding = Masking::Opposite;
    "all-masks-opposite", [Mask], |r| r.fill = Fill::Opposite;
    "padding-left-out", [Padding], |r| r.padding = Masking::None;
    "padding-of-queries", [Padding], |r| r.padding = Masking::Transposed;
    "padding-of-first", [Padding, Batch], |r| r.padding = Masking::FirstSequence;
    "padding-tiled", [Batch, GivenMask], |r| r.all_masks(Masking::Tiled);
    "padding-repeated", [Batch, GivenMask], |r| r.all_masks(Masking::Repeated);
    "mask-of-first-head", [GivenMask, Heads], |r| r.all_masks(Masking::FirstHead);
    "padding-other-end", [Padding], |r| r.padding = Masking::OtherEnd;
    "padding-one-short", [Padding], |r| r.padding = Masking::OneShort;
    "masks-joined-by-or", [Padding, Causal], |r| r.padding = Masking::Joined;
    "mask-left-out", [Pairs], |r| r.pairs = Masking::None;
    "pairs-opposite", [Pairs], |r| r.pairs = Masking::Opposite;
    "mask-transposed", [Pairs], |r| r.pairs = Masking::Transposed;
    "mask-before-scale", [Pairs], |r| r.pairs = Masking::BeforeScale;
}

choice! {
    /// Which keys a causal mask leaves: as was meant, which may be all.
    causal: Causal at Mask {
        Meant;
        None = "not-causal", [Causal];
        Unmeant = "causal-unmeant", [NoCausal];
        WithoutItself = "causal-without-itself", [Causal];
        OneAhead = "causal-one-ahead", [Causal]; // one key of the future too
        Future = "causal-future", [Causal]; // and the token itself
        // Aligned to the first key where it should be to the last, or the other way about.
        OtherCorner = "causal-corner", [Causal];
    }
}

/// Which keys a window leaves, where one was meant.
#[allow(missing_docs)] // a way without a word is what its name says
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Window {
    Meant,
    None,
    Wider,
    Narrower,
    /// The last keys before a query as if the first query stood at position 0.
    FromZero,
}

impl Window {
    mistakes! { at Mask:
        "window-left-out", [Window], |r| r.window = Window::None;
        "window-one-too-wide", [Band],
            |r| (r.window, r.pairs) = (Window::Wider, Masking::Wider);
        "window-one-too-narrow", [Window], |r| r.window = Window::Narrower;
        "window-from-zero", [Window, Offset], |r| r.window = Window::FromZero;
    }
}

choice! {
    /// What becomes of the scores of blocked keys.
    fill: Fill at Mask {
        MinusInfinity; // or a number as low
        Opposite; // open keys are blocked, and the blocked are open
        MinusNano = "fill-1e-9", [Mask]; // −1e−9
        Zero = "fill-zero", [Mask]; // as by a product with the mask
        MinusOne = "fill-minus-one", [Mask];
        MinusTenThousand = "fill-1e4", [Mask]; // a score may be below it
        Large = "fill-large", [Mask]; // 1e9
        BlockedPlusOne = "blocked-plus-one", [Mask]; // the mask's 1 is added to scores
        OpenPlusOne = "open-plus-one", [Mask];
        AfterSoftmax = "masked-after-softmax", [Mask]; // their weights are set to 0
        LastTileToo = "last-tile-dropped", [] alone; // if it is not full
        FirstTileAlone = "mask-of-first-tile", [Mask] alone; // of keys
    }
}
