//! Scores, what they are divided by, their bound, and what they lose by distance.

use crate::recipe::{Cap, Scale, Similarity, Slopes};

mistakes! {
    Scores, "scores-transposed", [], |r| r.similarity = Similarity::Transposed;
    Scores, "keys-reshaped", [], |r| r.similarity = Similarity::Reshaped;
    Scores, "cosine-scores", [], |r| r.similarity = Similarity::Cosine;
    Scale, "scaled-by-d-model", [Heads], |r| r.scale = Scale::RootOfModel;
    Scale, "not-scaled", [], |r| r.scale = Scale::None;
    Scale, "scaled-by-d-k", [], |r| r.scale = Scale::Width;
    Scale, "scaled-by-whole-d-model", [], |r| r.scale = Scale::Model;
    Scale, "multiplied-by-root", [], |r| r.scale = Scale::Multiplied;
    Scale, "scaled-by-quarter-root", [], |r| r.scale = Scale::QuarterRoot;
    Scale, "scaled-by-heads", [], |r| r.scale = Scale::RootOfHeads;
    Scale, "scaled-by-keys", [], |r| r.scale = Scale::RootOfKeys;
    Scale, "scaled-after-softmax", [], |r| r.scale = Scale::AfterSoftmax;
    Scale, "usual-scale", [OwnScale], |r| r.scale = Scale::RootOfWidth;
    Cap, "not-capped", [Cap], |r| r.cap = Cap::None;
    Cap, "cap-not-multiplied", [Cap], |r| r.cap = Cap::WithoutProduct;
    Cap, "cap-not-divided", [Cap], |r| r.cap = Cap::WithoutQuotient;
    Cap, "score-for-cap", [Cap], |r| r.cap = Cap::ScoreForCap;
    Slopes, "distance-left-out", [Slopes], |r| r.slopes = Slopes::None;
    Slopes, "distance-added", [Slopes], |r| r.slopes = Slopes::Opposite;
    Slopes, "slopes-of-any-power", [Slopes], |r| r.slopes = Slopes::AnyPower;
    Slopes, "slopes-from-zero", [Slopes], |r| r.slopes = Slopes::FromZero;
    Slopes, "slopes-reversed", [Slopes, Heads], |r| r.slopes = Slopes::Reversed;
    Slopes, "slopes-of-first-half", [Slopes, Heads], |r| r.slopes = Slopes::FirstHalf;
    Slopes, "slopes-sorted", [Slopes, Heads], |r| r.slopes = Slopes::Sorted;
    Cap, "capped-before-scale", [Cap], |r| r.cap = Cap::BeforeScale;
    Cap, "capped-after-mask", [Cap, Mask], |r| r.cap = Cap::AfterMask;
}
