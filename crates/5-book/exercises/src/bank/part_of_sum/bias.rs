//! Mistakes with b^O: on which ranks it is added, how often, and to which tokens.

use super::{AS_SUM, HEADS, Input, Named, Parts};
use crate::{Mistake, Section};

const WRONG: Section = Section::new("many-machines", "What people get wrong");

/// Ranks without heads among them, or not.
const fn on_every_rank(answer: fn(&Input) -> Parts) -> Named {
    Mistake {
        name: "adds b^O on every rank",
        does: "The all-reduce adds it up with the rest, so the output has b^O as often as \
            there are ranks that add it",
        looks_right: "W^O comes with its bias, and with one rank it is right. So it is with a \
            bias of 0, which a fresh layer often has",
        read: WRONG,
        answer,
    }
}

/// On all of them.
pub(super) const ON_EVERY_RANK: Named = on_every_rank(|input| input.with_bias(|_| 1.0));

/// On those with heads.
pub(super) const ON_EVERY_RANK_WITH_HEADS: Named = on_every_rank(|input| {
    input.with_bias(|rank| f64::from(u8::from(input.has_heads(rank))))
});

pub(super) const ON_NO_RANK: Named = Mistake {
    name: "adds b^O on no rank",
    does: "Each column of the sum is off by one number, the same for every token",
    looks_right: "b^O belongs to no head, so no head brings it along",
    read: HEADS,
    answer: |input| input.with_bias(|_| 0.0),
};

pub(super) const ON_THE_LAST_RANK_WITH_HEADS: Named = Mistake {
    name: "adds b^O on the last rank, and only if that has heads",
    does: "With more ranks than heads the last rank has none, and then nobody adds \
        b^O",
    looks_right: "With at least as many heads as ranks it is right",
    read: HEADS,
    answer: |input| {
        input.with_bias(|rank| {
            let is_last = rank + 1 == input.n_ranks;
            f64::from(u8::from(is_last && input.has_heads(rank)))
        })
    },
};

pub(super) const ON_RANK_1: Named = Mistake {
    name: "adds b^O on rank 1",
    does: "Ranks are counted from 0, so with one rank there is no rank 1, and nobody \
        adds b^O",
    looks_right: "With two ranks or more it is right",
    read: HEADS,
    answer: |input| input.with_bias(|rank| f64::from(u8::from(rank == 1))),
};

pub(super) const ONCE_PER_HEAD: Named = Mistake {
    name: "adds b^O once for every head",
    does: "It stands in the loop over heads, so the sum has it h times. It belongs to \
        the layer and not to a head",
    looks_right: "With one head it is right",
    read: AS_SUM,
    answer: |input| input.with_bias(|rank| input.share(rank).len() as f64),
};

pub(super) const SHARED_OUT: Named = Mistake {
    name: "shares b^O out among all ranks, and those without heads add none",
    does: "Each rank adds b^O / n_ranks, and a rank without heads returns zeros: \
        its share is missing",
    looks_right: "With at least as many heads as ranks the shares sum to b^O",
    read: HEADS,
    answer: |input| {
        let of_each = 1.0 / input.n_ranks as f64;
        input.with_bias(|rank| if input.has_heads(rank) { of_each } else { 0.0 })
    },
};

pub(super) const TO_TOKEN_0: Named = Mistake {
    name: "adds b^O to token 0 alone",
    does: "It adds b^O to one row of the output. It belongs to every token",
    looks_right: "With one token it is right",
    read: HEADS,
    answer: |input| {
        input.each(|rank| {
            let mut out = input.written_by(input.share(rank));
            if let (0, Some(b_o)) = (rank, &input.w_o.bias) {
                let mut token = out.row_mut(0);
                token += b_o;
            }
            out
        })
    },
};
