//! Mistakes inside a head, and of what becomes of the heads.

use attention::{HeadParameters, LayerParameters, Mask, Matrix, softmax_rows};

use super::{Head, Input};
use crate::bank::heads;
use crate::{Mistake, Section};

const BEFORE: Section = Section::new("masks", "The mask comes before softmax");
const HEADS: Section = Section::new("a-lens-per-head", "The heads in code");
const MIXER: Section = Section::new("a-lens-per-head", "The mixer, W^O");
const MULTIPLY: Section = Section::new("masks", "Two ways to multiply, both wrong");
const SCALE: Section = Section::new("scores-softmax-scale", "Why divide by √d_k");
const SHAPES: Section = Section::new("one-head", "The formula, with shapes");
const SOFTMAX: Section = Section::new("scores-softmax-scale", "What people get wrong");

type Named = Mistake<Input, Matrix>;

pub(super) const MASKED_AFTER_SOFTMAX: Named = Mistake {
    name: "masks after the softmax",
    does: "It sets the shares of the padding to 0 when they have already taken their part, so \
        a row sums to less than 1",
    looks_right: "No padding is read, and a source without any is right",
    read: BEFORE,
    answer: |input| {
        input.by_heads(|head, n| {
            head.out(|scores| {
                let mut attn = softmax_rows(scores);
                attn.columns_range_mut(n..).fill(0.0);
                attn
            })
        })
    },
};

pub(super) const BLOCKED_TO_0: Named = Mistake {
    name: "sets blocked scores to 0",
    does: "Softmax makes of a score of 0 a share like any other, since e⁰ is 1, and the \
        padding is read",
    looks_right: "A 0 looks like nothing, and every row sums to 1",
    read: MULTIPLY,
    answer: |input| {
        input.by_heads(|head, n| {
            head.out(|mut scores| {
                scores.columns_range_mut(n..).fill(0.0);
                softmax_rows(scores)
            })
        })
    },
};

pub(super) const SOFTMAX_DOWN: Named = Mistake {
    name: "shares out each source position among the target's tokens",
    does: "It runs softmax down the columns: positions share themselves out, and rows no \
        longer sum to 1",
    looks_right: "Every share lies between 0 and 1, and the shape is right",
    read: SOFTMAX,
    answer: |input| {
        input.by_heads(|head, n| {
            head.out(|scores| {
                let masked = Mask::FirstKeys(n).apply(scores);
                softmax_rows(masked.transpose()).transpose()
            })
        })
    },
};

pub(super) const NOT_SCALED: Named = Mistake {
    name: "does not divide the scores by √d_k",
    does: "Softmax gets the bare dot products, and rows come out too sharp",
    looks_right: "Every output is an average of the right values",
    read: SCALE,
    answer: |input| scaled(input, |_, d_k| d_k.sqrt()),
};

pub(super) const SCALED_BY_D_K: Named = Mistake {
    name: "divides the scores by d_k and not by its root",
    does: "The spread of the scores falls to 1/√d_k, so rows come out too even",
    looks_right: "A sum of d_k products divided by d_k is their mean",
    read: SCALE,
    answer: |input| scaled(input, |_, d_k| 1.0 / d_k.sqrt()),
};

pub(super) const SCALED_BY_D_MODEL: Named = Mistake {
    name: "divides the scores by √d_model",
    does: "It divides by the root of the width of a token, and a dot product here adds up \
        only the d_k products of one head",
    looks_right: "With one head d_k is often d_model, and then it is right",
    read: SCALE,
    answer: |input| scaled(input, |input, d_k| (d_k / input.y.ncols() as f64).sqrt()),
};

pub(super) const QUERIES_AND_VALUES: Named = Mistake {
    name: "compares queries with values",
    does: "Its scores are those of q and v: what a position hands over decides whether it is \
        found",
    looks_right: "Keys and values stand in the same rows, and where d_k = d_v it fits",
    read: SHAPES,
    answer: |input| masked(input, |Head { q, v, .. }| [q, v, v].map(Clone::clone)),
};

pub(super) const AVERAGES_KEYS: Named = Mistake {
    name: "averages the keys",
    does: "It weighs the rows of k, which are there to be found by",
    looks_right: "A key and its value stand in the same row, and where d_k = d_v the shape is \
        right",
    read: SHAPES,
    answer: |input| masked(input, |Head { q, k, .. }| [q, k, k].map(Clone::clone)),
};

pub(super) const ONE_HEAD_FOR_ALL: Named = Mistake {
    name: "gives all heads the weights of the first",
    does: "It computes head 0 h times and mixes it with itself",
    looks_right: "The concatenation has its width, and with one head it is right",
    read: HEADS,
    answer: |input| with_heads(input, |heads, _| heads[0].clone()),
};

pub(super) const ONE_MAP_FOR_ALL: Named = Mistake {
    name: "gives all heads the map of the first",
    does: "All heads look where head 0 looks, and take values of their own there",
    looks_right: "With one head it is right, and many texts show one map a layer",
    read: HEADS,
    answer: |input| {
        with_heads(input, |heads, i| HeadParameters {
            w_v: heads[i].w_v.clone(),
            ..heads[0].clone()
        })
    },
};

pub(super) const OVER_THE_FIRST_HEAD: Named = Mistake {
    name: "writes every head over the first",
    does: "It puts each head's output into columns 0 to d_v, so the last head is left there, \
        and W^O gets zeros for all others",
    looks_right: "Every head is right, and the concatenation has its width",
    read: HEADS,
    answer: |input| {
        let (dims, last) = (input.layer.dims(), input.layer.heads().len() - 1);
        input.changed(|input| {
            let heads = vec![input.layer.heads()[last].clone(); last + 1];
            let mut w_o = input.layer.w_o().clone();
            w_o.weight.rows_range_mut(dims.d_v()..).fill(0.0);
            input.layer = LayerParameters::new(heads, w_o).expect("the same sizes");
        })
    },
};

pub(super) const NO_W_O: Named = Mistake {
    name: "leaves W^O out",
    does: "It returns the heads side by side, not mixed",
    looks_right: "Where h · d_v is d_model, the shape is right",
    read: MIXER,
    answer: |input| {
        input.each(|s| {
            let (y, memory) = (input.target(s), input.source(s));
            let mask = Mask::FirstKeys(input.n_valid[s]);
            let head = |w: &HeadParameters| {
                let head = Head {
                    q: heads::project(&w.w_q, &y),
                    k: heads::project(&w.w_k, &memory),
                    v: heads::project(&w.w_v, &memory),
                };
                head.out(|scores| softmax_rows(mask.apply(scores)))
            };
            heads::concat(&input.layer.heads().iter().map(head).collect::<Vec<_>>())
        })
    },
};

pub(super) const NO_BIASES: Named = Mistake {
    name: "forgets the biases",
    does: "It multiplies by the weights and adds none of b^Q, b^K, b^V and b^O",
    looks_right: "The shapes are right, and with biases of 0 the numbers are too",
    read: SHAPES,
    answer: |input| {
        input.changed(|input| {
            let bare = |w: &HeadParameters| HeadParameters {
                w_q: heads::without_bias(&w.w_q),
                w_k: heads::without_bias(&w.w_k),
                w_v: heads::without_bias(&w.w_v),
            };
            let heads = input.layer.heads().iter().map(bare).collect();
            let w_o = heads::without_bias(input.layer.w_o());
            input.layer = LayerParameters::new(heads, w_o).expect("the same sizes");
        })
    },
};

/// Right, but for the scores, all of which are multiplied.
fn scaled(input: &Input, by: impl Fn(&Input, f64) -> f64) -> Matrix {
    masked(input, |Head { q, k, v }| {
        [q * by(input, k.ncols() as f64), k.clone(), v.clone()]
    })
}

/// Right, but for what each head attends with: queries, keys and values made of its own.
fn masked(input: &Input, of: impl Fn(&Head) -> [Matrix; 3]) -> Matrix {
    input.by_heads(|head, n| {
        let [q, k, v] = of(head);
        Head { q, k, v }.out(|scores| softmax_rows(Mask::FirstKeys(n).apply(scores)))
    })
}

/// The right answer of other heads: head i is what `head` makes of all and i.
fn with_heads(
    input: &Input,
    head: impl Fn(&[HeadParameters], usize) -> HeadParameters,
) -> Matrix {
    input.changed(|input| {
        let heads = input.layer.heads();
        let others = (0..heads.len()).map(|i| head(heads, i)).collect();
        let w_o = input.layer.w_o().clone();
        input.layer = LayerParameters::new(others, w_o).expect("the same sizes");
    })
}
