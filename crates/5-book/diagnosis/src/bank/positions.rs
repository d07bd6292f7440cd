//! Rotary positions.

use crate::recipe::Rotary;

mistakes! {
    Positions, "pairs-and-halves", [Rotary], |r| r.rotary = Rotary::OtherPairing;
    Positions, "angles-of-other-pairing", [Rotary], |r| r.rotary = Rotary::AnglesOfOther;
    Positions, "not-rotated", [Rotary], |r| r.rotary = Rotary::None;
    Positions, "values-rotated", [Rotary], |r| r.rotary = Rotary::ValuesToo;
    Positions, "queries-rotated-alone", [Rotary], |r| r.rotary = Rotary::QueriesAlone;
    Positions, "keys-rotated-alone", [Rotary], |r| r.rotary = Rotary::KeysAlone;
    Positions, "keys-rotated-backwards", [Rotary], |r| r.rotary = Rotary::KeysReversed;
    Positions, "rotated-backwards", [Rotary], |r| r.rotary = Rotary::Reversed;
    Positions, "rotated-twice", [Rotary], |r| r.rotary = Rotary::Twice;
    Positions, "rotary-exponent-halved", [Rotary], |r| r.rotary = Rotary::HalfExponent;
    Positions, "rotary-exponent-odd", [Rotary], |r| r.rotary = Rotary::OddExponent;
    Positions, "rotary-exponent-of-model", [Rotary, Heads],
        |r| r.rotary = Rotary::ExponentOfModel;
    Positions, "rotated-before-split", [Rotary, Heads], |r| r.rotary = Rotary::WholeWidth;
    Positions, "rotated-by-head", [Rotary], |r| r.rotary = Rotary::ByHead;
    Positions, "first-head-rotated", [Rotary, Heads], |r| r.rotary = Rotary::FirstHead;
    Positions, "half-of-head-rotated", [Rotary], |r| r.rotary = Rotary::HalfOfHead;
    Positions, "queries-one-ahead", [Rotary], |r| r.rotary = Rotary::QueriesAhead;
    Positions, "rotary-base", [Rotary], |r| r.rotary = Rotary::OtherBase;
    Positions, "sine-for-cosine", [Rotary], |r| r.rotary = Rotary::SineForCosine;
    Positions, "rotary-without-minus", [Rotary], |r| r.rotary = Rotary::WithoutMinus;
    Positions, "row-for-position", [Rotary, Offset],
        |r| r.rotary = Rotary::QueriesFromZero;
    Positions, "rotated-keys-from-zero", [Rotary, Listed],
        |r| r.rotary = Rotary::KeysFromZero;
    Positions, "padding-counted", [Rotary, Listed], |r| r.rotary = Rotary::PaddingCounted;
    Positions, "keys-rotated-twice", [Rotary], |r| r.rotary = Rotary::KeysTwice;
    Positions, "cached-keys-rotated-twice", [Rotary, Cached],
        |r| r.rotary = Rotary::CachedKeysTwice;
    Positions, "unmeant-halves", [NoRotary], |r| r.rotary = Rotary::UnmeantHalves;
    Positions, "unmeant-pairs", [NoRotary], |r| r.rotary = Rotary::UnmeantPairs;
}
