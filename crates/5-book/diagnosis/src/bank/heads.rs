//! From q, k and v to heads, their norms, and keys that heads share.

use crate::recipe::{Norms, Sharing, Split};

mistakes! {
    Split, "split-without-transpose", [Heads], |r| r.split = Split::View;
    Split, "values-split-without-transpose", [Heads], |r| r.split = Split::ViewOfValues;
    Split, "keys-split-without-transpose", [Heads], |r| r.split = Split::ViewOfKeys;
    Split, "split-interleaved", [Heads], |r| r.split = Split::Interleaved;
    Split, "split-after-transpose", [], |r| r.split = Split::AfterTranspose;
    Split, "attends-across-heads", [], |r| r.split = Split::AcrossHeads;
    Split, "heads-and-width-exchanged", [Heads], |r| r.split = Split::Exchanged;
    Split, "keys-of-reversed-heads", [Heads], |r| r.split = Split::KeysReversed;
    Norms, "qk-norm-left-out", [Norms], |r| r.norms = Norms::None;
    Norms, "qk-norm-after-rotation", [Norms, Rotary], |r| r.norms = Norms::AfterRotation;
    Norms, "qk-norm-of-other-width", [Norms, Heads], |r| r.norms = Norms::OtherWidth;
    Norms, "qk-norm-over-tokens", [Norms], |r| r.norms = Norms::OverTokens;
    Norms, "qk-norm-without-gain", [Norms], |r| r.norms = Norms::WithoutGain;
    Sharing, "key-heads-tiled", [SharedKeys], |r| r.sharing = Sharing::Tiled;
    Sharing, "value-heads-tiled", [SharedKeys], |r| r.sharing = Sharing::ValuesTiled;
    Sharing, "first-key-head-for-all", [SharedKeys], |r| r.sharing = Sharing::First;
    Sharing, "mean-of-key-heads", [SharedKeys], |r| r.sharing = Sharing::Mean;
    Sharing, "keys-repeated-along-sequence", [SharedKeys],
        |r| r.sharing = Sharing::AlongSequence;
}
