//! Mistakes that decide by the block or the chunk of a token and not by its position.

use super::{Input, Named, SHARE};
use crate::Mistake;

impl Input {
    /// Whether the block is all that the rank itself has.
    fn is_own_block(&self) -> bool {
        self.queries == self.keys
    }

    /// Whether the block begins where the rank's own does.
    fn begins_like_own(&self) -> bool {
        self.queries[0].start == self.keys[0].start
    }
}

/// Known by all of its ranges, or by where it begins.
const fn opens_others(answer: fn(&Input) -> Vec<Vec<bool>>) -> Named {
    Mistake {
        name: "masks its own block and opens all others",
        does: "Queries see keys from other ranks that come after them",
        looks_right: "Only in its own block does a token meet itself, so that seems to be \
            the one that needs a mask",
        read: SHARE,
        answer,
    }
}

/// Its own block is known by all of its ranges.
pub(super) const OTHERS_OPEN: Named = opens_others(|input| {
    input.each(|query, key| !input.is_own_block() || key.position <= query.position)
});

/// Its own block is known by where it begins.
pub(super) const OTHERS_OPEN_BY_START: Named = opens_others(|input| {
    input.each(|query, key| !input.begins_like_own() || key.position <= query.position)
});

/// Known by all of its ranges, or by where it begins.
const fn closes_others(answer: fn(&Input) -> Vec<Vec<bool>>) -> Named {
    Mistake {
        name: "masks its own block and closes all others",
        does: "No query sees a key from another rank, so each rank reads its own tokens \
            as if they were the whole sequence",
        looks_right: "No query sees what comes after it",
        read: SHARE,
        answer,
    }
}

/// Its own block is known by all of its ranges.
pub(super) const OTHERS_CLOSED: Named = closes_others(|input| {
    input.each(|query, key| input.is_own_block() && key.position <= query.position)
});

/// Its own block is known by where it begins.
pub(super) const OTHERS_CLOSED_BY_START: Named = closes_others(|input| {
    input.each(|query, key| input.begins_like_own() && key.position <= query.position)
});

/// In whichever way its own block is masked.
const fn decides_by_block(answer: fn(&Input) -> Vec<Vec<bool>>) -> Named {
    Mistake {
        name: "decides for a whole block from another rank",
        does: "Its own block is masked; another is open if its first key comes before the \
            first query, and closed if not. But with two chunks each, some of a block's keys \
            come before a query and some after it",
        looks_right: "It is right where each rank has one run of tokens",
        read: SHARE,
        answer,
    }
}

/// Another that begins where its own does is open.
pub(super) const WHOLE_BLOCK: Named = decides_by_block(|input| {
    input.each(|query, key| match input.is_own_block() {
        true => key.position <= query.position,
        false => input.keys[0].start <= input.queries[0].start,
    })
});

/// Another that begins where its own does is closed.
pub(super) const WHOLE_BLOCK_BEFORE: Named = decides_by_block(|input| {
    input.each(|query, key| match input.is_own_block() {
        true => key.position <= query.position,
        false => input.keys[0].start < input.queries[0].start,
    })
});

/// Its own block is known by where it begins.
pub(super) const WHOLE_BLOCK_BY_START: Named = decides_by_block(|input| {
    input.each(|query, key| match input.begins_like_own() {
        true => key.position <= query.position,
        false => input.keys[0].start < input.queries[0].start,
    })
});

/// The same, and it is masked by rows and columns.
pub(super) const WHOLE_BLOCK_BY_PLACE: Named = decides_by_block(|input| {
    input.each(|query, key| match input.begins_like_own() {
        true => key.place <= query.place,
        false => input.keys[0].start < input.queries[0].start,
    })
});

/// Its own chunk open or closed, where the whole block is decided at once.
const fn decides_by_chunk(answer: fn(&Input) -> Vec<Vec<bool>>) -> Named {
    Mistake {
        name: "compares chunks and not tokens",
        does: "It decides for all pairs of two ranges at once, from where they start. Within \
            one chunk some pairs may meet and some may not",
        looks_right: "Between two different chunks all pairs may meet, or none",
        read: SHARE,
        answer,
    }
}

/// Its own chunk is open.
pub(super) const WHOLE_CHUNK: Named =
    decides_by_chunk(|input| input.each(|query, key| key.start <= query.start));

/// Its own chunk is closed.
pub(super) const WHOLE_CHUNK_BEFORE: Named =
    decides_by_chunk(|input| input.each(|query, key| key.start < query.start));

pub(super) const PART_FOR_A_CHUNK: Named = Mistake {
    name: "takes a part of a chunk for a whole one",
    does: "Where two ranges start at different positions it opens or closes all \
        pairs, and masks only where both start at the same. But a block may be a part \
        of the chunk that the queries are from",
    looks_right: "For blocks of whole chunks it is right",
    read: SHARE,
    answer: |input| {
        input.each(|query, key| {
            key.start < query.start
                || key.start == query.start && key.in_range() <= query.in_range()
        })
    },
};

pub(super) const LIKE_CHUNKS_ALONE: Named = Mistake {
    name: "opens only pairs of two first or two second chunks",
    does: "First chunks meet first chunks and second chunks meet second chunks, and \
        no query of a second chunk sees a key of a first one",
    looks_right: "Every pair that it opens may meet",
    read: SHARE,
    answer: |input| {
        input
            .each(|query, key| key.range == query.range && key.position <= query.position)
    },
};
