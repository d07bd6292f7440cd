//! Mistakes that divide what heads write, as if the layer were a mean and not a sum.

use super::{HEADS, Input, Named, Parts, once};
use crate::Mistake;

/// b^O divided too, or not.
const fn takes_the_mean(answer: fn(&Input) -> Parts) -> Named {
    Mistake {
        name: "takes the mean over ranks and not the sum",
        does: "It divides what its heads write by the number of ranks. The layer is a sum \
            over heads, wherever they are",
        looks_right: "Gradients of a batch are averaged over ranks, and with one rank it is \
            right",
        read: HEADS,
        answer,
    }
}

/// b^O is added afterwards.
pub(super) const OVER_RANKS: Named = takes_the_mean(|input| {
    let of_each = 1.0 / input.n_ranks as f64;
    input.with_bias_once(|rank| input.written_by(input.share(rank)) * of_each)
});

/// b^O is divided too.
pub(super) const OVER_RANKS_WITH_BIAS: Named = takes_the_mean(|input| {
    let of_each = 1.0 / input.n_ranks as f64;
    input.each(|rank| {
        let written = input.written_by(input.share(rank));
        input.plus_bias(written, once(rank)) * of_each
    })
});

/// A rank without heads gives zeros, or NaN.
const fn takes_the_mean_of_heads(answer: fn(&Input) -> Parts) -> Named {
    Mistake {
        name: "takes the mean over its heads",
        does: "It divides what its heads write by how many they are",
        looks_right: "With one head per rank it is right; but W^O has learned its size, and \
            nothing else may change it",
        read: HEADS,
        answer,
    }
}

/// Zeros for a rank without heads.
pub(super) const OVER_HEADS: Named = takes_the_mean_of_heads(|input| {
    input.with_bias_once(|rank| {
        let heads = input.share(rank);
        let n = heads.len().max(1) as f64;
        input.written_by(heads) / n
    })
});

/// NaN for a rank without heads.
pub(super) const OVER_HEADS_OR_NAN: Named = takes_the_mean_of_heads(|input| {
    input.with_bias_once(|rank| {
        let heads = input.share(rank);
        let n = heads.len() as f64;
        input.written_by(heads) / n
    })
});
