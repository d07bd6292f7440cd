//! What people write instead.

use attention::{Matrix, softmax_rows};

use super::{Input, SHARED, causal, masked};
use crate::{Mistake, Section};

const BOUNDS: Section =
    Section::new("variants", "Scores within bounds: soft caps and QK-norm");
const WRONG: Section = Section::new("variants", "What people get wrong");
const CAUSAL: Section = Section::new("masks", "What people get wrong");
const SCALE: Section = Section::new("scores-softmax-scale", "Why divide by √d_k");
const MULTIPLY: Section = Section::new("masks", "Two ways to multiply, both wrong");

/// All of them.
pub(super) const ALL: &[Mistake<Input, Matrix>] = &[
    Mistake {
        name: "repeats the keys in the wrong order",
        does: "Head i reads group i mod n_kv_heads: keys are repeated as 0, 1, 0, 1 and \
            not as 0, 0, 1, 1",
        looks_right: "All shapes fit, and with as many groups as heads, or with one, it \
            is right",
        read: WRONG,
        answer: |input| {
            input.heads(
                |head| head % input.n_kv_heads,
                |products| softmax_rows(causal(input.scores(products))),
            )
        },
    },
    Mistake {
        name: "gives all heads the first keys and values",
        does: "It never looks at the other groups",
        looks_right: "With one head of keys and values it is right",
        read: SHARED,
        answer: |input| {
            input.heads(|_| 0, |products| softmax_rows(causal(input.scores(products))))
        },
    },
    COUNTS_GROUPS,
    Mistake {
        answer: |input| {
            let last = input.n_kv_heads - 1;
            input.heads(
                |head| (head / input.n_kv_heads).min(last),
                |products| softmax_rows(causal(input.scores(products))),
            )
        },
        ..COUNTS_GROUPS
    },
    Mistake {
        name: "reads the values of another group than the keys",
        does: "Keys are those of group i / size, and values those of group i mod \
            n_kv_heads, so shares that one group's keys have earned weigh another's values",
        looks_right: "All shapes fit, every map is right, and with as many groups as \
            heads all is",
        read: WRONG,
        answer: |input| {
            let right = |products| softmax_rows(causal(input.scores(products)));
            input.heads_of(
                |head| head / (input.n_heads / input.n_kv_heads),
                |head| head % input.n_kv_heads,
                right,
            )
        },
    },
    Mistake {
        name: "gives blocked keys a score of 0",
        does: "Softmax makes of a score of 0 a share like any other, since e⁰ is 1, and \
            queries read the future",
        looks_right: "A 0 looks like nothing, and every row sums to 1",
        read: MULTIPLY,
        answer: |input| {
            input.with(|products| {
                let mut scores = causal(input.scores(products));
                scores.apply(|it| *it = if it.is_finite() { *it } else { 0.0 });
                softmax_rows(scores)
            })
        },
    },
    Mistake {
        name: "does not multiply by the cap behind the tanh",
        does: "It computes tanh(score / cap), so no score is above 1, and every row is \
            nearly even",
        looks_right: "Scores stay within a bound, and their order is right",
        read: BOUNDS,
        answer: |input| {
            input
                .with(|products| softmax_rows(causal(input.scores(products) / input.cap)))
        },
    },
    Mistake {
        name: "caps after the mask",
        does: "It bends −∞ to −cap, so what is blocked gets a share",
        looks_right: "With a cap of 50 that share is too small to be seen",
        read: WRONG,
        answer: |input| {
            input.with(|products| {
                let masked = causal(products / input.scale());
                softmax_rows(input.capped(masked))
            })
        },
    },
    Mistake {
        name: "caps before it divides by √d_k",
        does: "It bends the bare dot products, and then divides what is left",
        looks_right: "Scores stay within a bound, but one that is √d_k times smaller",
        read: BOUNDS,
        answer: |input| {
            input.with(|products| {
                softmax_rows(causal(input.capped(products) / input.scale()))
            })
        },
    },
    Mistake {
        name: "forgets the cap",
        does: "Scores go into softmax as they are",
        looks_right: "Scores that are much smaller than the cap are hardly bent",
        read: BOUNDS,
        answer: |input| {
            input.with(|products| softmax_rows(causal(products / input.scale())))
        },
    },
    Mistake {
        name: "cuts scores off at the cap",
        does: "It clamps: all scores beyond the cap become one",
        looks_right: "It is a bound too, and small scores are right",
        read: BOUNDS,
        answer: |input| {
            input.with(|products| {
                let scores = products / input.scale();
                softmax_rows(causal(scores.map(|it| it.clamp(-input.cap, input.cap))))
            })
        },
    },
    Mistake {
        name: "does not divide inside of the tanh",
        does: "It computes cap · tanh(score), which is cap already for a score of 3",
        looks_right: "Scores stay within the cap",
        read: BOUNDS,
        answer: |input| {
            input.with(|products| {
                let scores = products / input.scale();
                softmax_rows(causal(scores.map(|score| input.cap * score.tanh())))
            })
        },
    },
    Mistake {
        name: "starts the mask at the first key",
        does: "Query 0 sees key 0 alone, as if the queries were the first tokens",
        looks_right: "With as many queries as keys it is right",
        read: CAUSAL,
        answer: |input| {
            input.with(|products| softmax_rows(masked(input.scores(products), |i| i)))
        },
    },
    Mistake {
        name: "forgets the mask",
        does: "Every query sees all keys, and those after it too",
        looks_right: "The last query is right",
        read: CAUSAL,
        answer: |input| input.with(|products| softmax_rows(input.scores(products))),
    },
    Mistake {
        name: "hides the token itself",
        does: "A query sees only what stands before its own token",
        looks_right: "It sees nothing of the future",
        read: CAUSAL,
        answer: |input| {
            input.with(|products| {
                let before = products.ncols() - products.nrows();
                let scores = input.scores(products);
                let last = |i: usize| (before + i).saturating_sub(1);
                softmax_rows(masked(scores, last))
            })
        },
    },
    Mistake {
        name: "hides the token itself",
        does: "A query sees only what stands before its own token, and the first token \
            of a text nothing at all",
        looks_right: "It sees nothing of the future",
        read: CAUSAL,
        answer: |input| {
            input.with(|products| {
                let before = products.ncols() - products.nrows();
                let mut scores = input.scores(products);
                for i in 0..scores.nrows() {
                    scores.columns_range_mut(before + i..).row_mut(i).fill(BLOCKED);
                }
                softmax_rows(scores)
            })
        },
    },
    Mistake {
        name: "divides by the root of the width of all heads",
        does: "It divides by √(n_heads · d_k), the width of q",
        looks_right: "With one head it is right",
        read: SCALE,
        answer: |input| {
            input.with(|products| {
                let root = (input.q.ncols() as f64).sqrt();
                softmax_rows(causal(input.capped(products / root)))
            })
        },
    },
    Mistake {
        name: "does not divide the scores by √d_k",
        does: "The bare dot products go into the cap",
        looks_right: "Rows sum to 1, and the cap keeps them from growing",
        read: SCALE,
        answer: |input| {
            input.with(|products| softmax_rows(causal(input.capped(products))))
        },
    },
    Mistake {
        name: "takes softmax twice",
        does: "It makes shares of the shares, and every row comes out nearly even",
        looks_right: "Every row sums to 1",
        read: MULTIPLY,
        answer: |input| {
            input.with(|products| {
                softmax_rows(softmax_rows(causal(input.scores(products))))
            })
        },
    },
    Mistake {
        name: "reads the values of the first group",
        does: "Keys are those of the head's own group, and values always begin at column 0",
        looks_right: "Every map is right, and so are the heads of the first group",
        read: SHARED,
        answer: |input| {
            input.heads_of(
                |head| head / (input.n_heads / input.n_kv_heads),
                |_| 0,
                |products| softmax_rows(causal(input.scores(products))),
            )
        },
    },
    Mistake {
        name: "divides by the root of the width of all keys",
        does: "It divides by √(n_kv_heads · d_k), the width of k",
        looks_right: "With one head of keys and values it is right",
        read: SCALE,
        answer: |input| {
            input.with(|products| {
                let root = (input.k.ncols() as f64).sqrt();
                softmax_rows(causal(input.capped(products / root)))
            })
        },
    },
    Mistake {
        name: "divides by d_k and not by its root",
        does: "The spread of the scores falls to 1/√d_k, so rows come out too even",
        looks_right: "A sum of d_k products divided by d_k is their mean",
        read: SCALE,
        answer: |input| {
            input.with(|products| {
                let d_k = input.d_k() as f64;
                softmax_rows(causal(input.capped(products / d_k)))
            })
        },
    },
    Mistake {
        name: "lets the heads overlap in the output",
        does: "It writes head i from column i on and not from column i · d_v, over most of the head before",
        looks_right: "The last head is whole",
        read: SHARED,
        answer: |input| input.written(|head| head),
    },
    Mistake {
        name: "writes every head over the first",
        does: "It writes each head from column 0 on, so the last one is left there",
        looks_right: "Every head is computed as it should be",
        read: SHARED,
        answer: |input| input.written(|_| 0),
    },
    Mistake {
        name: "does not mask the first query",
        does: "Its loop over the queries begins at 1",
        looks_right: "The other rows are right, and with one query there is nothing to mask",
        read: CAUSAL,
        answer: |input| {
            input.with(|products| {
                let before = products.ncols() - products.nrows();
                softmax_rows(masked(input.scores(products), |i| {
                    if i == 0 { usize::MAX - 1 } else { before + i }
                }))
            })
        },
    },
    Mistake {
        name: "lets every head ask with the first query",
        does: "It cuts q from column 0 on for every head",
        looks_right: "Keys, values and groups are right, and so is head 0",
        read: SHARED,
        answer: |input| {
            let (mut q, d_k) = (input.q.clone(), input.d_k());
            for head in 1..input.n_heads {
                let first = q.columns(0, d_k).into_owned();
                q.columns_mut(head * d_k, d_k).copy_from(&first);
            }
            let [k, v] = [&input.k, &input.v].map(Matrix::clone);
            Input { q, k, v, ..*input }.right()
        },
    },
];

const BLOCKED: f64 = f64::NEG_INFINITY;

/// Beyond the last group it panics, or takes the last one.
const COUNTS_GROUPS: Mistake<Input, Matrix> = Mistake {
    name: "divides by the number of groups and not by the size of one",
    does: "Head i reads group i / n_kv_heads. A group has n_heads / n_kv_heads heads, so \
        with 6 on 2 heads 0 and 1 share and head 4 has no group",
    looks_right: "Where a group has as many heads as there are groups, as with 4 on 2, it is \
        right",
    read: SHARED,
    answer: |input| {
        input.heads(
            |head| head / input.n_kv_heads,
            |products| softmax_rows(causal(input.scores(products))),
        )
    },
};
