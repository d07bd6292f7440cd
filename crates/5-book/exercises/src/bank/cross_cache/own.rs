//! Mistakes with the keys and values of the target.

use attention::Matrix;

use super::{
    ASKS, CACHES, Caches, Decoder, Input, KV, RESIDUAL, Steps, WRONG, append, attend,
    cross_half, keep, newest, read,
};
use crate::Mistake;

type Named = Mistake<Input, Steps>;

/// Right, but for the first half of a step, which gets the tokens so far.
fn first_half(
    input: &Input,
    own: impl Fn(&Decoder, &Matrix, &mut Caches) -> Matrix,
) -> Steps {
    input.steps(|w, memory, tokens, caches| {
        let h = own(w, tokens, caches);
        cross_half(w, memory, &h, caches)
    })
}

/// Right, but for what is kept as key and as value of the new token.
fn kept_as(input: &Input, of: impl Fn(Matrix, Matrix) -> (Matrix, Matrix)) -> Steps {
    first_half(input, |w, tokens, caches| {
        let y = newest(tokens);
        let (k, v) = of(w.own.w_k.forward(&y), w.own.w_v.forward(&y));
        append(&mut caches.own, &k, &v);
        &y + read(&w.own, &y, &caches.own)
    })
}

pub(super) const CACHED_ONCE: Named = Mistake {
    name: "keeps the target's first token alone",
    does: "It computes the target's own keys and values once, as the source's, and every \
        later token reads the first one and nothing else",
    looks_right: "“If the cache is empty, fill it” is right for the source, which does not \
        grow; the target does",
    read: CACHES,
    answer: |input| {
        first_half(input, |w, tokens, caches| {
            let y = newest(tokens);
            if caches.own.n_seen() == 0 {
                keep(&mut caches.own, &w.own, &y);
            }
            &y + read(&w.own, &y, &caches.own)
        })
    },
};

pub(super) const ALONE: Named = Mistake {
    name: "lets each token attend to itself alone",
    does: "It attends with the new token's key and value and not with those that are kept, or \
        it keeps none",
    looks_right: "One token comes in and one goes out, and in the first step it is right",
    read: KV,
    answer: |input| {
        first_half(input, |w, tokens, caches| {
            let y = newest(tokens);
            let [q, k, v] = [&w.own.w_q, &w.own.w_k, &w.own.w_v].map(|w| w.forward(&y));
            append(&mut caches.own, &k, &v);
            &y + attend(&q, &k, &v)
        })
    },
};

pub(super) const BEFORE_ITSELF: Named = Mistake {
    name: "attends before it keeps the new token",
    does: "The new token reads those before it and not itself, and in the first step nothing",
    looks_right: "The past is kept, and the new token is the one that asks; under a causal \
        mask a token sees itself too",
    read: CACHES,
    answer: |input| {
        first_half(input, |w, tokens, caches| {
            let y = newest(tokens);
            let h = &y + read(&w.own, &y, &caches.own);
            keep(&mut caches.own, &w.own, &y);
            h
        })
    },
};

pub(super) const ALL_AGAIN: Named = Mistake {
    name: "projects all of the target again at each step",
    does: "It makes keys and values of all tokens so far and puts them in place of those that \
        are kept: after n steps n (n + 1) / 2 rows, where n are enough",
    looks_right: "Every output is right. That is what a cache is to save",
    read: KV,
    answer: |input| {
        first_half(input, |w, tokens, caches| {
            let y = newest(tokens);
            caches.own = w.own.cache();
            keep(&mut caches.own, &w.own, tokens);
            &y + read(&w.own, &y, &caches.own)
        })
    },
};

pub(super) const ALL_APPENDED: Named = Mistake {
    name: "appends all of the target at each step",
    does: "It keeps the tokens that are kept already once more: the first token of three is \
        read three times, and has three shares",
    looks_right: "Without a cache a step is given the whole text; with one it takes the last \
        token alone",
    read: WRONG,
    answer: |input| {
        first_half(input, |w, tokens, caches| {
            let y = newest(tokens);
            keep(&mut caches.own, &w.own, tokens);
            &y + read(&w.own, &y, &caches.own)
        })
    },
};

pub(super) const FIRST_TOKEN: Named = Mistake {
    name: "takes the first token for the newest",
    does: "It takes row 0 of the tokens at each step, and every step gives the same",
    looks_right: "In the first step it is the newest",
    read: CACHES,
    answer: |input| {
        first_half(input, |w, tokens, caches| {
            let y = tokens.rows(0, 1).into_owned();
            keep(&mut caches.own, &w.own, &y);
            &y + read(&w.own, &y, &caches.own)
        })
    },
};

pub(super) const EXCHANGED: Named = Mistake {
    name: "exchanges the target's keys and values",
    does: "It appends a token's value as its key and its key as its value",
    looks_right: "Where d_k is d_model both have the same shape",
    read: KV,
    answer: |input| kept_as(input, |k, v| (v, k)),
};

pub(super) const KEYS_AS_VALUES: Named = Mistake {
    name: "keeps the target's keys as values",
    does: "It appends a token's key twice, and what is read is an average of keys",
    looks_right: "The right tokens are found, and where d_k is d_model the shape fits",
    read: KV,
    answer: |input| kept_as(input, |k, _| (k.clone(), k)),
};

pub(super) const VALUES_AS_KEYS: Named = Mistake {
    name: "keeps the target's values as keys",
    does: "It appends a token's value twice, and what a token hands over decides whether it \
        is found",
    looks_right: "What is read is an average of values, and where d_k is d_model the shape \
        fits",
    read: KV,
    answer: |input| kept_as(input, |_, v| (v.clone(), v)),
};

pub(super) const MEMORY_FIRST: Named = Mistake {
    name: "puts the source into the target's cache too",
    does: "It begins the target's cache with keys and values of the memory, and a token reads \
        source and target in one softmax",
    looks_right: "What is read comes first and what is written comes after it, as in models \
        that have one cache",
    read: WRONG,
    answer: |input| {
        input.steps(|w, memory, tokens, caches| {
            let y = newest(tokens);
            if caches.own.n_seen() == 0 {
                keep(&mut caches.own, &w.own, memory);
            }
            keep(&mut caches.own, &w.own, &y);
            let h = &y + read(&w.own, &y, &caches.own);
            cross_half(w, memory, &h, caches)
        })
    },
};

pub(super) const READS_SOURCE: Named = Mistake {
    name: "reads the source's cache in both attentions",
    does: "The own attention's query meets the source's keys and values, and the target is not \
        read at all",
    looks_right: "Both caches have the same widths",
    read: ASKS,
    answer: |input| {
        input.steps(|w, memory, tokens, caches| {
            let y = newest(tokens);
            keep(&mut caches.own, &w.own, &y);
            if caches.cross.n_seen() == 0 {
                keep(&mut caches.cross, &w.cross, memory);
            }
            let h = &y + read(&w.own, &y, &caches.cross);
            cross_half(w, memory, &h, caches)
        })
    },
};

pub(super) const LEFT_OUT: Named = Mistake {
    name: "leaves the target's own attention out",
    does: "The new token asks the source at once, and knows nothing of what was written before \
        it",
    looks_right: "The source has all that is to be written, and the shapes are right",
    read: ASKS,
    answer: |input| first_half(input, |_, tokens, _| newest(tokens)),
};

pub(super) const NO_RESIDUAL: Named = Mistake {
    name: "leaves out the residual around its own attention",
    does: "The source is asked by what the token reads, without the token itself",
    looks_right: "The output of one layer is the input of the next",
    read: RESIDUAL,
    answer: |input| {
        first_half(input, |w, tokens, caches| {
            let y = newest(tokens);
            keep(&mut caches.own, &w.own, &y);
            read(&w.own, &y, &caches.own)
        })
    },
};
