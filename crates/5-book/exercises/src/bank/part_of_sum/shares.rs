//! Mistakes with the share of a rank: which of the heads it has.

use std::ops::Range;

use super::{HEADS, Input, Named, Parts};
use crate::Mistake;

impl Input {
    /// Rank 0 adds b^O, and each rank has these heads.
    fn with_heads(&self, of: impl Fn(usize) -> Range<usize>) -> Parts {
        self.with_bias_once(|rank| self.written_by(of(rank)))
    }
}

pub(super) const LEFT_OVER_DROPPED: Named = Mistake {
    name: "drops the heads that are left over",
    does: "Every rank has h / n_ranks heads, rounded down. The last heads are on no \
        rank, and with more ranks than heads no head is on any",
    looks_right: "Where the heads are divisible by the ranks it is right",
    read: HEADS,
    answer: |input| {
        let n = input.n_heads() / input.n_ranks;
        input.with_heads(|rank| rank * n..(rank + 1) * n)
    },
};

pub(super) const LEFT_OVER_TO_THE_LAST: Named = Mistake {
    name: "gives all the heads that are left over to the last rank",
    does: "The sum is right, but of 7 heads on 4 ranks the last has 4 and the others \
        one each. All wait for it",
    looks_right: "Every head is on one rank, and the last range only has another end",
    read: HEADS,
    answer: |input| {
        let (h, p) = (input.n_heads(), input.n_ranks);
        input.with_heads(|rank| {
            rank * (h / p)..if rank + 1 == p { h } else { (rank + 1) * (h / p) }
        })
    },
};

pub(super) const LEFT_OVER_TO_RANK_0: Named = Mistake {
    name: "gives all the heads that are left over to rank 0",
    does: "The sum is right, but of 7 heads on 4 ranks rank 0 has 4 and the others \
        one each. All wait for it",
    looks_right: "Every head is on one rank, and only the first range has another \
        end",
    read: HEADS,
    answer: |input| {
        let (n, more) =
            (input.n_heads() / input.n_ranks, input.n_heads() % input.n_ranks);
        input.with_heads(|rank| {
            let start = if rank == 0 { 0 } else { rank * n + more };
            start..(rank + 1) * n + more
        })
    },
};

pub(super) const ONE_MORE_FOR_THE_LAST: Named = Mistake {
    name: "gives the last ranks one head more",
    does: "The sum is right and the shares are even, but the heads that are left over \
        were to go to the first ranks. Where ranks do not agree on that, some heads \
        are added twice and some never",
    looks_right: "Every head is on one rank, and the shares are even",
    read: HEADS,
    answer: |input| {
        let (h, p) = (input.n_heads(), input.n_ranks);
        let start = |rank: usize| rank * (h / p) + (rank + h % p).saturating_sub(p);
        input.with_heads(|rank| start(rank)..start(rank + 1))
    },
};

pub(super) const BEGINNINGS_ROUNDED_DOWN: Named = Mistake {
    name: "lets rank r begin at h · r / n_ranks",
    does: "It rounds every beginning down, so the heads that are left over go to \
        ranks here and there, and not to the first",
    looks_right: "The sum is right and the shares are even, and it is a common way \
        to share out",
    read: HEADS,
    answer: |input| {
        let start = |rank: usize| input.n_heads() * rank / input.n_ranks;
        input.with_heads(|rank| start(rank)..start(rank + 1))
    },
};

pub(super) const AT_LEAST_ONE: Named = Mistake {
    name: "gives a rank without heads one that another rank has",
    does: "Every rank has at least one head, so with more ranks than heads some \
        heads are added up twice",
    looks_right: "No rank has nothing to do, and with enough heads it is right",
    read: HEADS,
    answer: |input| {
        input.with_heads(|rank| match input.share(rank) {
            none if none.is_empty() => {
                let head = rank % input.n_heads();
                head..head + 1
            }
            heads => heads,
        })
    },
};

pub(super) const ROUNDED_UP: Named = Mistake {
    name: "gives each rank h / n_ranks heads, rounded up",
    does: "The sum is right, but the first ranks take all: of 7 heads on 5 ranks the \
        last rank has none, and could have one",
    looks_right: "Every head is on one rank, and no rank has more than the first",
    read: HEADS,
    answer: |input| {
        let h = input.n_heads();
        let n = h.div_ceil(input.n_ranks);
        input.with_heads(|rank| (rank * n).min(h)..((rank + 1) * n).min(h))
    },
};

pub(super) const ONE_BY_ONE: Named = Mistake {
    name: "deals the heads out one by one",
    does: "Head i goes to rank i mod n_ranks. The sum is right, but a rank's heads \
        are no range, and their rows of W^O no block",
    looks_right: "Every head is on one rank, and the shares are even",
    read: HEADS,
    answer: |input| {
        input.with_bias_once(|rank| {
            input.written_by((rank..input.n_heads()).step_by(input.n_ranks))
        })
    },
};

/// The first rows, or from wherever the list of its heads says.
const fn starts_at_a_multiple_of_its_own(answer: fn(&Input) -> Parts) -> Named {
    Mistake {
        name: "begins at rank times its own number of heads",
        does: "Where the first ranks have one head more than the last, a rank with fewer \
            heads begins too early: it takes a head, or rows of W^O, of an earlier rank",
        looks_right: "Where the heads are divisible by the ranks it is right",
        read: HEADS,
        answer,
    }
}

/// Its heads are the wrong ones.
pub(super) const HEADS_AT_A_MULTIPLE: Named = starts_at_a_multiple_of_its_own(|input| {
    input.with_heads(|rank| {
        let n = input.share(rank).len();
        rank * n..(rank + 1) * n
    })
});

/// Its heads are right, and their rows of W^O are not.
pub(super) const ROWS_AT_A_MULTIPLE: Named = starts_at_a_multiple_of_its_own(|input| {
    input.with_bias_once(|rank| {
        let heads = input.share(rank);
        let (start, n) = (heads.start, heads.len());
        input.written(heads, |i| (rank * n + i - start) * input.d_v())
    })
});

pub(super) const FORGETS_THE_LEFT_OVER: Named = Mistake {
    name: "begins at rank · (h / n_ranks)",
    does: "It rounds down and forgets that earlier ranks have one head more: heads on the \
        border are on two ranks, and the last ones on none",
    looks_right: "Every rank has the right number of heads, and where they are divisible all \
        is right",
    read: HEADS,
    answer: |input| {
        let n = input.n_heads() / input.n_ranks;
        input.with_heads(|rank| rank * n..rank * n + input.share(rank).len())
    },
};

pub(super) const FROM_ITS_NUMBER: Named = Mistake {
    name: "begins at the head with the rank's number",
    does: "Rank 1 begins at head 1, however many heads rank 0 has: some heads are on \
        two ranks and some on none",
    looks_right: "With one head per rank it is right",
    read: HEADS,
    answer: |input| {
        input.with_heads(|rank| {
            let start = rank.min(input.n_heads());
            start..(start + input.share(rank).len()).min(input.n_heads())
        })
    },
};

pub(super) const ALL_HEADS: Named = Mistake {
    name: "computes all heads on every rank",
    does: "Every part is the whole layer's, so the sum has every head as often as \
        there are ranks",
    looks_right: "Each part is right by itself, and with one rank the sum is",
    read: HEADS,
    answer: |input| input.with_heads(|_| 0..input.n_heads()),
};

pub(super) const WHOLE_LAYER: Named = Mistake {
    name: "computes the whole layer on every rank",
    does: "Every part is the whole layer's output, b^O in it, so the sum has \
        everything as often as there are ranks",
    looks_right: "Each part is right by itself, and with one rank the sum is",
    read: HEADS,
    answer: |input| {
        input.each(|_| input.plus_bias(input.written_by(0..input.n_heads()), 1.0))
    },
};

pub(super) const ALL_ON_RANK_0: Named = Mistake {
    name: "computes the whole layer on rank 0",
    does: "The sum is right, and all other ranks have nothing to do",
    looks_right: "Rank 0 is where b^O is added, and the sum is what is asked for",
    read: HEADS,
    answer: |input| {
        input.with_heads(|rank| if rank == 0 { 0..input.n_heads() } else { 0..0 })
    },
};

pub(super) const LAST_HEAD_ALONE: Named = Mistake {
    name: "keeps only what its last head adds",
    does: "It writes `=` where `+=` adds up, so each head of a rank overwrites the one before",
    looks_right: "With one head per rank it is right",
    read: HEADS,
    answer: |input| {
        input.with_heads(|rank| {
            let Range { start, end } = input.share(rank);
            start.max(end.saturating_sub(1))..end
        })
    },
};
