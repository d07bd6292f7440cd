//! Mistakes with right positions: what is asked of a pair, and where its answer stands.

use super::{Named, SHARE, Token, tokens};
use crate::{Mistake, Section};

const CAUSAL: Section = Section::new("masks", "Causal");

pub(super) const HIDES_ITSELF: Named = Mistake {
    name: "hides each token from itself",
    does: "It asks for a key before the query. The first token of the sequence then \
        sees nothing at all",
    looks_right: "A token meets itself only in the block of its own rank, so all other \
        blocks are right",
    read: CAUSAL,
    answer: |input| input.each(|query, key| key.position < query.position),
};

pub(super) const SEES_THE_NEXT: Named = Mistake {
    name: "lets a token see the next one",
    does: "It is off by one: a query may attend to the token right behind it, which \
        a model that writes has to guess",
    looks_right: "At most one entry of a row is wrong, and in most blocks none is",
    read: CAUSAL,
    answer: |input| input.each(|query, key| key.position <= query.position + 1),
};

pub(super) const EXCHANGED: Named = Mistake {
    name: "exchanges queries and keys",
    does: "A query sees itself and what comes after it, and not what comes before",
    looks_right: "It has as many pairs, and a token still meets itself",
    read: CAUSAL,
    answer: |input| input.each(|query, key| query.position <= key.position),
};

pub(super) const OPPOSITE: Named = Mistake {
    name: "says which pairs may not meet",
    does: "`true` stands where a key is hidden, so every entry is the opposite of \
        what was asked",
    looks_right: "Some libraries ask for a mask in that sense, PyTorch's \
        MultiheadAttention for one",
    read: CAUSAL,
    answer: |input| input.each(|query, key| key.position > query.position),
};

pub(super) const ROW_PER_KEY: Named = Mistake {
    name: "has a row for each key",
    does: "Its rows are keys and its columns queries, so an entry belongs to \
        another pair than the one that it is read for",
    looks_right: "Every pair is judged rightly, and with as many queries as keys the \
        shape is right",
    read: SHARE,
    answer: |input| {
        let queries = tokens(&input.queries);
        let row = |key: Token| {
            queries.iter().map(|query| key.position <= query.position).collect()
        };
        tokens(&input.keys).into_iter().map(row).collect()
    },
};

pub(super) const ALL_OPEN: Named = Mistake {
    name: "masks nothing",
    does: "Every query sees every key, also those that come after it",
    looks_right: "Without a causal mask a ring needs no positions at all",
    read: CAUSAL,
    answer: |input| input.each(|_, _| true),
};
