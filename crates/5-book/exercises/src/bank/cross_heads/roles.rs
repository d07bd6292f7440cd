//! Mistakes of who asks and who answers.

use attention::{HeadParameters, LayerParameters, Mask, Matrix};

use super::{ASKS, CHAPTER, Input};
use crate::{Mistake, Section};

const SHAPES: Section = Section::new("one-head", "The formula, with shapes");
const WRONG: Section = Section::new(CHAPTER, "What people get wrong");

type Named = Mistake<Input, Matrix>;

pub(super) const MEMORY_ASKS: Named = Mistake {
    name: "lets the memory ask the target",
    does: "It takes the queries from the memory, and keys and values from y",
    looks_right: "“From source to target” sounds as if the source acted; but the output \
        belongs to what asks",
    read: ASKS,
    answer: |input| roles(input, |y, memory| [memory, y, y]),
};

const fn target_alone(answer: fn(&Input) -> Matrix) -> Named {
    Mistake {
        name: "lets the target attend to itself",
        does: "It takes query, key and value from y and never looks at the memory",
        looks_right: "Two of a decoder's attentions look alike, and this is the other one",
        read: ASKS,
        answer,
    }
}

pub(super) const TARGET_ALONE: Named =
    target_alone(|input| roles(input, |y, _| [y, y, y]));

/// The whole batch projected once.
pub(super) const TARGET_ALONE_AT_ONCE: Named =
    target_alone(|input| at_once(input, |y, _| [y, y, y]));

const fn memory_alone(answer: fn(&Input) -> Matrix) -> Named {
    Mistake {
        name: "lets the memory attend to itself",
        does: "It takes the queries from the memory too and never looks at y",
        looks_right: "That is what the encoder did; where both have the same length, the output \
            has the right shape",
        read: ASKS,
        answer,
    }
}

pub(super) const MEMORY_ALONE: Named =
    memory_alone(|input| roles(input, |_, memory| [memory, memory, memory]));

/// The whole batch projected once.
pub(super) const MEMORY_ALONE_AT_ONCE: Named =
    memory_alone(|input| at_once(input, |_, memory| [memory, memory, memory]));

const fn keys_of_target(answer: fn(&Input) -> Matrix) -> Named {
    Mistake {
        name: "takes the keys from the target",
        does: "It finds tokens of the target, and then takes what stands at the same places in \
            the source",
        looks_right: "Where both have the same length, all shapes fit",
        read: ASKS,
        answer,
    }
}

pub(super) const KEYS_OF_TARGET: Named =
    keys_of_target(|input| roles(input, |y, memory| [y, y, memory]));

/// The whole batch projected once.
pub(super) const KEYS_OF_TARGET_AT_ONCE: Named =
    keys_of_target(|input| at_once(input, |y, memory| [y, y, memory]));

const fn values_of_target(answer: fn(&Input) -> Matrix) -> Named {
    Mistake {
        name: "takes the values from the target",
        does: "It finds positions of the source, and then takes what stands at the same places in \
            the target",
        looks_right: "Where both have the same length, all shapes fit",
        read: ASKS,
        answer,
    }
}

pub(super) const VALUES_OF_TARGET: Named =
    values_of_target(|input| roles(input, |y, memory| [y, memory, y]));

/// The whole batch projected once.
pub(super) const VALUES_OF_TARGET_AT_ONCE: Named =
    values_of_target(|input| at_once(input, |y, memory| [y, memory, y]));

pub(super) const TARGET_AMONG_KEYS: Named = Mistake {
    name: "puts the target among the keys",
    does: "It attends to the source and to the target at once, and the shares of both sum to \
        1; here the target has an attention of its own",
    looks_right: "The shape is right, and models without an encoder do attend so",
    read: WRONG,
    answer: |input| {
        input.each(|s| {
            let (y, source) = (input.target(s), input.source(s));
            let real = source.rows(0, input.n_valid[s]);
            let rows: Vec<_> = real.row_iter().map(|row| row.into_owned()).collect();
            let of_y = y.row_iter().map(|row| row.into_owned());
            let both =
                Matrix::from_rows(&rows.into_iter().chain(of_y).collect::<Vec<_>>());
            input.attended([&y, &both, &both], &Mask::None)
        })
    },
};

pub(super) const LAST_POSITION: Named = Mistake {
    name: "reads the last position of the source alone",
    does: "Every query gets the value of the last real position, whatever it asks",
    looks_right: "The last state was all that a decoder got before there was attention, and \
        it has read the whole source",
    read: WRONG,
    answer: |input| input.allowed(|s, _, j| j + 1 == input.n_valid[s]),
};

pub(super) const EXCHANGED_WEIGHTS: Named = Mistake {
    name: "exchanges W^Q and W^K",
    does: "It makes queries of y with W^K, and keys of the memory with W^Q",
    looks_right: "Both have the same shape, and y does ask; in self-attention it would do no \
        more than transpose the scores",
    read: SHAPES,
    answer: |input| {
        input.changed(|input| {
            let exchanged = |w: &HeadParameters| HeadParameters {
                w_q: w.w_k.clone(),
                w_k: w.w_q.clone(),
                w_v: w.w_v.clone(),
            };
            let heads = input.layer.heads().iter().map(exchanged).collect();
            let w_o = input.layer.w_o().clone();
            input.layer = LayerParameters::new(heads, w_o).expect("the same sizes");
        })
    },
};

pub(super) const ADDS_TARGET: Named = Mistake {
    name: "adds the target to what it reads",
    does: "It adds y to the output. The residual around the layer does that, and would do it \
        once more",
    looks_right: "It is what a decoder's block does next, and the shapes fit",
    read: Section::new("the-block", "The residual, and pre-norm or post-norm"),
    answer: |input| input.right() + &input.y,
};

/// Which of target and source are query, key and value.
type Roles = for<'a> fn(&'a Matrix, &'a Matrix) -> [&'a Matrix; 3];

/// Each sequence by itself.
fn roles(input: &Input, qkv: Roles) -> Matrix {
    input.each(|s| {
        let (y, memory) = (input.target(s), input.source(s));
        input.attended(qkv(&y, &memory), &Mask::FirstKeys(input.n_valid[s]))
    })
}

/// Of the whole batch, each sequence cut out where its rows would lie if the target asked and
/// the source answered; that panics where there are no such rows.
fn at_once(input: &Input, qkv: Roles) -> Matrix {
    let [q, k, v] = qkv(&input.y, &input.memory);
    let (n_target, n_source) = (input.n_target(), input.n_source());
    let cut = |of: &Matrix, s: usize, n: usize| of.rows(s * n, n).into_owned();
    input.each(|s| {
        let [k, v] = [k, v].map(|x| cut(x, s, n_source));
        let mask = Mask::FirstKeys(input.n_valid[s]);
        input.attended([&cut(q, s, n_target), &k, &v], &mask)
    })
}
