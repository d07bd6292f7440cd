//! Which keys are open, and what becomes of the others.

use crate::recipe::{Causal, Fill, Masking, Recipe, Window};

const fn both(r: &mut Recipe, masking: Masking) {
    r.padding = masking;
    r.pairs = masking;
}

mistakes! {
    Mask, "mask-opposite", [GivenMask], |r| both(r, Masking::Opposite);
    Mask, "padding-opposite", [Padding], |r| r.padding = Masking::Opposite;
    Mask, "all-masks-opposite", [Mask], |r| r.fill = Fill::Opposite;
    Mask, "padding-left-out", [Padding], |r| r.padding = Masking::None;
    Mask, "padding-of-queries", [Padding], |r| r.padding = Masking::Transposed;
    Mask, "padding-of-first", [Padding, Batch], |r| r.padding = Masking::FirstSequence;
    Mask, "padding-tiled", [Batch, GivenMask], |r| both(r, Masking::Tiled);
    Mask, "padding-repeated", [Batch, GivenMask], |r| both(r, Masking::Repeated);
    Mask, "mask-of-first-head", [GivenMask, Heads], |r| both(r, Masking::FirstHead);
    Mask, "padding-other-end", [Padding], |r| r.padding = Masking::OtherEnd;
    Mask, "padding-one-short", [Padding], |r| r.padding = Masking::OneShort;
    Mask, "masks-joined-by-or", [Padding, Causal], |r| r.padding = Masking::Joined;
    Mask, "mask-left-out", [Pairs], |r| r.pairs = Masking::None;
    Mask, "pairs-opposite", [Pairs], |r| r.pairs = Masking::Opposite;
    Mask, "mask-transposed", [Pairs], |r| r.pairs = Masking::Transposed;
    Mask, "mask-before-scale", [Pairs], |r| r.pairs = Masking::BeforeScale;
    Mask, "not-causal", [Causal], |r| r.causal = Causal::None;
    Mask, "causal-unmeant", [NoCausal], |r| r.causal = Causal::Unmeant;
    Mask, "causal-without-itself", [Causal], |r| r.causal = Causal::WithoutItself;
    Mask, "causal-one-ahead", [Causal], |r| r.causal = Causal::OneAhead;
    Mask, "causal-future", [Causal], |r| r.causal = Causal::Future;
    Mask, "causal-corner", [Causal], |r| r.causal = Causal::OtherCorner;
    Mask, "window-left-out", [Window], |r| r.window = Window::None;
    Mask, "window-one-too-wide", [Band], |r| {
        r.window = Window::Wider;
        r.pairs = Masking::Wider;
    };
    Mask, "window-one-too-narrow", [Window], |r| r.window = Window::Narrower;
    Mask, "window-from-zero", [Window, Offset], |r| r.window = Window::FromZero;
    Mask, "fill-1e-9", [Mask], |r| r.fill = Fill::MinusNano;
    Mask, "fill-zero", [Mask], |r| r.fill = Fill::Zero;
    Mask, "fill-minus-one", [Mask], |r| r.fill = Fill::MinusOne;
    Mask, "fill-1e4", [Mask], |r| r.fill = Fill::MinusTenThousand;
    Mask, "fill-large", [Mask], |r| r.fill = Fill::Large;
    Mask, "blocked-plus-one", [Mask], |r| r.fill = Fill::BlockedPlusOne;
    Mask, "open-plus-one", [Mask], |r| r.fill = Fill::OpenPlusOne;
    Mask, "masked-after-softmax", [Mask], |r| r.fill = Fill::AfterSoftmax;
    Mask, "last-tile-dropped", [] alone, |r| r.fill = Fill::LastTileToo;
    Mask, "mask-of-first-tile", [Mask] alone, |r| r.fill = Fill::FirstTileAlone;
}
