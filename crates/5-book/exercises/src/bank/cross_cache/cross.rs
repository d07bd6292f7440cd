//! Mistakes with the keys and values of the source.

use attention::Matrix;

use super::{
    ASKS, CACHES, Caches, Decoder, Input, KV, RESIDUAL, Steps, WRONG, append, attend,
    cross_half, keep, newest, own_half, read,
};
use crate::Mistake;

type Named = Mistake<Input, Steps>;

/// What the second half of a step has at hand.
struct Half<'a> {
    w: &'a Decoder,
    memory: &'a Matrix,
    /// The tokens so far.
    tokens: &'a Matrix,
    /// What came of the first half.
    h: &'a Matrix,
    caches: &'a mut Caches,
}

impl Half<'_> {
    /// What the second half gives with what is kept by now.
    fn read(self) -> Matrix {
        self.h + read(&self.w.cross, self.h, &self.caches.cross)
    }

    /// Keeps these rows as the source's.
    fn keep(&mut self, x: &Matrix) {
        keep(&mut self.caches.cross, &self.w.cross, x);
    }

    fn is_first(&self) -> bool {
        self.tokens.nrows() == 1
    }
}

/// Right, but for the second half of a step.
fn second_half(input: &Input, cross: impl Fn(Half) -> Matrix) -> Steps {
    input.steps(|w, memory, tokens, caches| {
        let h = own_half(w, tokens, caches);
        cross(Half { w, memory, tokens, h: &h, caches })
    })
}

/// Right, but for what is kept as keys and as values of the source.
fn kept_as(input: &Input, of: impl Fn(Matrix, Matrix) -> (Matrix, Matrix)) -> Steps {
    second_half(input, |half| {
        if half.is_first() {
            let w = &half.w.cross;
            let (k, v) = of(w.w_k.forward(half.memory), w.w_v.forward(half.memory));
            append(&mut half.caches.cross, &k, &v);
        }
        half.read()
    })
}

pub(super) const EACH_STEP: Named = Mistake {
    name: "projects the source again at each step",
    does: "It makes keys and values of the whole memory for every token that is written, the \
        same each time: n_source rows a step, where n_source in all are enough",
    looks_right: "Every output is right. But the memory does not change while a text is \
        written",
    read: CACHES,
    answer: |input| {
        second_half(input, |mut half| {
            half.caches.cross = half.w.cross.cache();
            half.keep(half.memory);
            half.read()
        })
    },
};

pub(super) const APPENDED: Named = Mistake {
    name: "appends the source again at each step",
    does: "The cache of the source holds it once more for every token that is written, and \
        each step reads more rows than the one before",
    looks_right: "Every output is right: of two equal keys each gets half the share, and both \
        have the same value. And the target's cache does grow",
    read: WRONG,
    answer: |input| {
        second_half(input, |mut half| {
            half.keep(half.memory);
            half.read()
        })
    },
};

const fn of_target(answer: fn(&Input) -> Steps) -> Named {
    Mistake {
        name: "makes the source's keys and values of the target",
        does: "It projects what asks, at each step, and the cross-attention becomes another \
            attention of the target's: the memory is never read",
        looks_right: "It is the first half once more, with the other weights",
        read: ASKS,
        answer,
    }
}

/// Of what came of the first half.
pub(super) const OF_WHAT_ASKS: Named = of_target(|input| {
    second_half(input, |mut half| {
        half.keep(half.h);
        half.read()
    })
});

/// Of the tokens themselves.
pub(super) const OF_TOKENS: Named = of_target(|input| {
    second_half(input, |mut half| {
        half.keep(&newest(half.tokens));
        half.read()
    })
});

const fn of_first(answer: fn(&Input) -> Steps) -> Named {
    Mistake {
        name: "makes the source's keys and values of the first target token",
        does: "It projects what asks in the first step and keeps that for all others: one \
            row, so every token reads the same, and nothing of the memory",
        looks_right: "It is computed once, and the shapes are right",
        read: ASKS,
        answer,
    }
}

/// Of what came of the first half.
pub(super) const OF_FIRST_QUERY: Named = of_first(|input| {
    second_half(input, |mut half| {
        if half.is_first() {
            half.keep(half.h);
        }
        half.read()
    })
});

/// Of the token itself.
pub(super) const OF_FIRST_TOKEN: Named = of_first(|input| {
    second_half(input, |mut half| {
        if half.is_first() {
            half.keep(half.tokens);
        }
        half.read()
    })
});

pub(super) const TARGET_AMONG_KEYS: Named = Mistake {
    name: "appends the target to the source's cache",
    does: "Each step keeps what asks among the source's keys and values too, and the shares of \
        source and target sum to 1",
    looks_right: "A cache is there to be appended to, and the first half does so",
    read: WRONG,
    answer: |input| {
        second_half(input, |mut half| {
            if half.is_first() {
                half.keep(half.memory);
            }
            half.keep(half.h);
            half.read()
        })
    },
};

pub(super) const A_POSITION_A_STEP: Named = Mistake {
    name: "keeps one position of the source a step",
    does: "Step t appends keys and values of position t: a token reads as much of the source \
        as is written of the target",
    looks_right: "The target's cache grows so; but the whole source is known before the first \
        step, and is as long as it is",
    read: CACHES,
    answer: |input| {
        second_half(input, |mut half| {
            let t = half.tokens.nrows() - 1;
            if t < half.memory.nrows() {
                half.keep(&half.memory.rows(t, 1).into_owned());
            }
            half.read()
        })
    },
};

pub(super) const FIRST_STEP_ALONE: Named = Mistake {
    name: "reads the source in the first step alone",
    does: "It does not keep what it computes of the memory, and later steps have no key of the \
        source: they read zeros",
    looks_right: "The first step is right, and the memory is needed no more once it is \
        projected; but its keys and values are",
    read: CACHES,
    answer: |input| {
        second_half(input, |mut half| {
            match half.is_first() {
                true => half.keep(half.memory),
                false => half.caches.cross = half.w.cross.cache(),
            }
            half.read()
        })
    },
};

pub(super) const READS_OWN: Named = Mistake {
    name: "reads the target's cache in both attentions",
    does: "The query of the cross-attention meets the target's keys and values, and the source \
        is not read at all",
    looks_right: "Both caches have the same widths",
    read: ASKS,
    answer: |input| {
        second_half(input, |Half { w, h, caches, .. }| h + read(&w.cross, h, &caches.own))
    },
};

pub(super) const ONE_CACHE: Named = Mistake {
    name: "keeps source and target in one cache",
    does: "It appends the source's keys and values to the target's in the first step, and both \
        attentions read all of them",
    looks_right: "All that is read is kept once; but each attention has keys of its own, made \
        by its own W^K",
    read: CACHES,
    answer: |input| {
        second_half(input, |half| {
            if half.is_first() {
                keep(&mut half.caches.own, &half.w.cross, half.memory);
            }
            half.h + read(&half.w.cross, half.h, &half.caches.own)
        })
    },
};

pub(super) const WRONG_CACHE: Named = Mistake {
    name: "appends the source to the target's cache",
    does: "The source's cache stays empty, so the cross-attention reads zeros, and the source \
        is appended to the target at each step",
    looks_right: "It is the line above once more, with the other weights",
    read: CACHES,
    answer: |input| {
        second_half(input, |half| {
            keep(&mut half.caches.own, &half.w.cross, half.memory);
            half.read()
        })
    },
};

pub(super) const OWN_WEIGHTS: Named = Mistake {
    name: "projects the source with the own attention's W^K and W^V",
    does: "Keys and values of the memory are made by the other attention's matrices, and the \
        cross-attention's query looks for what is not there",
    looks_right: "The matrices have the same shapes, and the memory is projected once",
    read: ASKS,
    answer: |input| {
        second_half(input, |half| {
            if half.is_first() {
                keep(&mut half.caches.cross, &half.w.own, half.memory);
            }
            half.read()
        })
    },
};

pub(super) const OWN_QUERY: Named = Mistake {
    name: "asks the source with the own attention's W^Q",
    does: "The query is made by the other attention's matrix, or it is that of the first half",
    looks_right: "It has the right width, and a token may seem to have one query; each \
        attention has its own",
    read: ASKS,
    answer: |input| {
        second_half(input, |mut half| {
            if half.is_first() {
                half.keep(half.memory);
            }
            let q = half.w.own.w_q.forward(half.h);
            half.h + attend(&q, half.caches.cross.keys(), half.caches.cross.values())
        })
    },
};

pub(super) const TOKEN_ASKS: Named = Mistake {
    name: "lets the token itself ask the source",
    does: "The query is made of the new token and not of what came of its own attention, so \
        both attentions work side by side",
    looks_right: "Some models compute layers side by side; here the second one builds on the \
        first, and what to ask may depend on what was written",
    read: ASKS,
    answer: |input| {
        second_half(input, |mut half| {
            if half.is_first() {
                half.keep(half.memory);
            }
            let y = newest(half.tokens);
            half.h + read(&half.w.cross, &y, &half.caches.cross)
        })
    },
};

pub(super) const EXCHANGED: Named = Mistake {
    name: "exchanges the source's keys and values",
    does: "It keeps values of the memory as keys, and keys as values",
    looks_right: "Where d_k is d_model both have the same shape",
    read: KV,
    answer: |input| kept_as(input, |k, v| (v, k)),
};

pub(super) const KEYS_AS_VALUES: Named = Mistake {
    name: "keeps the source's keys as values",
    does: "It keeps keys of the memory twice, and what is read is an average of keys",
    looks_right: "The right positions are found, and where d_k is d_model the shape fits",
    read: KV,
    answer: |input| kept_as(input, |k, _| (k.clone(), k)),
};

pub(super) const VALUES_AS_KEYS: Named = Mistake {
    name: "keeps the source's values as keys",
    does: "It keeps values of the memory twice, and what a position hands over decides whether \
        it is found",
    looks_right: "What is read is an average of values, and where d_k is d_model the shape \
        fits",
    read: KV,
    answer: |input| kept_as(input, |_, v| (v.clone(), v)),
};

pub(super) const LEFT_OUT: Named = Mistake {
    name: "leaves the cross-attention out",
    does: "It returns what came of the target's own attention, and the source is never asked",
    looks_right: "Models that only write have nothing else",
    read: ASKS,
    answer: |input| second_half(input, |half| half.h.clone()),
};

pub(super) const NO_RESIDUAL: Named = Mistake {
    name: "leaves out the residual around the cross-attention",
    does: "It returns what is read of the source, without what asked for it",
    looks_right: "That is what the cross-attention gives",
    read: RESIDUAL,
    answer: |input| {
        input.steps(|w, memory, tokens, caches| {
            let h = own_half(w, tokens, caches);
            cross_half(w, memory, &h, caches) - h
        })
    },
};

pub(super) const RESIDUAL_OF_TOKEN: Named = Mistake {
    name: "adds what is read of the source to the token itself",
    does: "The residual goes around both attentions at once: what the target's own attention \
        gave asks the source, and is then lost",
    looks_right: "The token is added, and there is one residual in the end",
    read: RESIDUAL,
    answer: |input| {
        input.steps(|w, memory, tokens, caches| {
            let h = own_half(w, tokens, caches);
            cross_half(w, memory, &h, caches) - h + newest(tokens)
        })
    },
};

pub(super) const BEFORE_OWN: Named = Mistake {
    name: "asks the source first",
    does: "The new token reads the source, and what comes of that reads the target",
    looks_right: "Both attentions are there, each with its cache; a decoder's block has its own \
        first",
    read: ASKS,
    answer: |input| {
        input.steps(|w, memory, tokens, caches| {
            let h = cross_half(w, memory, &newest(tokens), caches);
            keep(&mut caches.own, &w.own, &h);
            &h + read(&w.own, &h, &caches.own)
        })
    },
};
