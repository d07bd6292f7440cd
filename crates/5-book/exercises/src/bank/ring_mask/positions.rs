//! Mistakes that take a query or a key for another token of the sequence.

use std::ops::Range;

use super::{CHAPTER, Input, Named, SHARE, Token};
use crate::{Mistake, Section};

const WRONG: Section = Section::new(CHAPTER, "What people get wrong");

/// From the first row and column on, or so that the last of both meet.
const fn counts_within_the_rank(answer: fn(&Input) -> Vec<Vec<bool>>) -> Named {
    Mistake {
        name: "counts positions within the rank",
        does: "It compares the number of a row with the number of a column. So wherever a \
            block comes from, a query sees as much of it as of its own rank's",
        looks_right: "It is right on one rank, and on any for its own block, where rows and \
            columns are in the order of the sequence",
        read: WRONG,
        answer,
    }
}

/// The first row meets the first column.
pub(super) const WITHIN_THE_RANK: Named =
    counts_within_the_rank(|input| input.each(|query, key| key.place <= query.place));

/// The last row meets the last column.
pub(super) const WITHIN_THE_RANK_FROM_THE_END: Named = counts_within_the_rank(|input| {
    let (n_q, n_kv) = (n_tokens(&input.queries), n_tokens(&input.keys));
    input.each(|query, key| key.place + n_q <= query.place + n_kv)
});

pub(super) const KEYS_FROM_0: Named = Mistake {
    name: "counts the block's keys from 0",
    does: "It knows where its queries are in the sequence, and takes the keys of any \
        block for the first ones. Keys that come later look as if they came early",
    looks_right: "It is right for a block from the beginning of the sequence",
    read: WRONG,
    answer: |input| input.each(|query, key| key.place <= query.position),
};

pub(super) const QUERIES_FROM_0: Named = Mistake {
    name: "counts its queries from 0",
    does: "It knows where the keys are in the sequence, and takes its own queries \
        for the first ones. They see less than they should",
    looks_right: "The queries never move, so they seem to need no position; for those \
        at the beginning of the sequence it is right",
    read: WRONG,
    answer: |input| input.each(|query, key| key.position <= query.place),
};

/// Queries, keys or both.
const fn counts_within_the_chunk(answer: fn(&Input) -> Vec<Vec<bool>>) -> Named {
    Mistake {
        name: "counts positions within the chunk",
        does: "It begins at 0 again in every chunk, of queries, of keys or of both, as if \
            each were the first of the sequence",
        looks_right: "Inside a loop over chunks one counts from 0, and for the first chunk of \
            the sequence that is right",
        read: SHARE,
        answer,
    }
}

/// Queries and keys.
pub(super) const WITHIN_THE_CHUNK: Named = counts_within_the_chunk(|input| {
    input.each(|query, key| key.in_range() <= query.in_range())
});

/// Queries alone.
pub(super) const QUERIES_WITHIN_THE_CHUNK: Named = counts_within_the_chunk(|input| {
    input.each(|query, key| key.position <= query.in_range())
});

/// Keys alone.
pub(super) const KEYS_WITHIN_THE_CHUNK: Named = counts_within_the_chunk(|input| {
    input.each(|query, key| key.in_range() <= query.position)
});

/// Queries, keys or both.
const fn takes_one_run(answer: fn(&Input) -> Vec<Vec<bool>>) -> Named {
    Mistake {
        name: "counts on from the first chunk into the second",
        does: "It adds a row's or a column's number to the start of the first chunk, as if \
            the second chunk came right after it in the sequence",
        looks_right: "One start per rank is enough where its tokens are one run, and for the \
            first chunk it is right",
        read: SHARE,
        answer,
    }
}

/// Queries and keys.
pub(super) const ONE_RUN: Named = takes_one_run(|input| {
    input.each(|query, key| {
        as_one_run(&input.keys, key) <= as_one_run(&input.queries, query)
    })
});

/// Queries alone.
pub(super) const QUERIES_IN_ONE_RUN: Named = takes_one_run(|input| {
    input.each(|query, key| key.position <= as_one_run(&input.queries, query))
});

/// Keys alone.
pub(super) const KEYS_IN_ONE_RUN: Named = takes_one_run(|input| {
    input.each(|query, key| as_one_run(&input.keys, key) <= query.position)
});

/// Queries, keys or both.
const fn cuts_in_halves(answer: fn(&Input) -> Vec<Vec<bool>>) -> Named {
    Mistake {
        name: "takes both chunks for equally long",
        does: "It starts the second chunk in the middle of the rows or columns",
        looks_right: "Where the tokens are divisible by twice the ranks it is right",
        read: SHARE,
        answer,
    }
}

/// Queries and keys.
pub(super) const HALVES: Named = cuts_in_halves(|input| {
    input.each(|query, key| {
        in_halves(&input.keys, key) <= in_halves(&input.queries, query)
    })
});

/// Queries alone.
pub(super) const QUERIES_IN_HALVES: Named = cuts_in_halves(|input| {
    input.each(|query, key| key.position <= in_halves(&input.queries, query))
});

/// Keys alone.
pub(super) const KEYS_IN_HALVES: Named = cuts_in_halves(|input| {
    input.each(|query, key| in_halves(&input.keys, key) <= query.position)
});

/// Queries, keys or both.
const fn sorts(answer: fn(&Input) -> Vec<Vec<bool>>) -> Named {
    Mistake {
        name: "sorts the positions",
        does: "It puts queries, keys or both into the order of the sequence. Rows and columns \
            are to be in the order of the ranges, which need not rise",
        looks_right: "A rank's first chunk usually comes before its second",
        read: SHARE,
        answer,
    }
}

/// Queries and keys.
pub(super) const SORTED: Named = sorts(|input| {
    Input { queries: sorted(&input.queries), keys: sorted(&input.keys), ..*input }.right()
});

/// Queries alone.
pub(super) const QUERIES_SORTED: Named = sorts(|input| {
    let keys = input.keys.clone();
    Input { queries: sorted(&input.queries), keys, ..*input }.right()
});

/// Keys alone.
pub(super) const KEYS_SORTED: Named = sorts(|input| {
    let queries = input.queries.clone();
    Input { queries, keys: sorted(&input.keys), ..*input }.right()
});

/// Ranges that do not overlap, from the earliest to the latest.
fn sorted(ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut ranges = ranges.to_vec();
    ranges.sort_by_key(|range| range.start);
    ranges
}

fn n_tokens(ranges: &[Range<usize>]) -> usize {
    ranges.iter().map(Range::len).sum()
}

/// The position if the second range followed the first.
fn as_one_run(ranges: &[Range<usize>], token: Token) -> usize {
    ranges[0].start + token.place
}

/// The position if both ranges had half of the tokens.
fn in_halves(ranges: &[Range<usize>], token: Token) -> usize {
    let half = n_tokens(ranges) / 2;
    match ranges {
        [first, _] if token.place < half => first.start + token.place,
        [_, second] => second.start + token.place - half,
        _ => token.position,
    }
}
